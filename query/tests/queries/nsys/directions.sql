-- NVIDIA's skills: copies by the names of their directions
SELECT e.label, COUNT(*) AS copies, SUM(m.bytes) AS bytes, MAX(m.end - m.start) AS longest_ns
FROM CUPTI_ACTIVITY_KIND_MEMCPY m JOIN ENUM_CUDA_MEMCPY_OPER e ON e.id = m.copyKind
GROUP BY e.label
