-- NVIDIA, Common SQLite examples: CUDA kernels by the NVTX range of their launch, as a query instead of new columns
SELECT nvtxRange, COUNT(*) AS kernels, SUM(dur) AS total_ns
FROM (
  SELECT n.text AS nvtxRange, k.end - k.start AS dur,
    ROW_NUMBER() OVER (PARTITION BY r.correlationId, r.globalTid ORDER BY n.start DESC) AS nearest
  FROM CUPTI_ACTIVITY_KIND_KERNEL k
  JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON k.correlationId == r.correlationId
    AND r.globalTid / 0x1000000 == k.globalPid / 0x1000000
  JOIN NVTX_EVENTS n ON n.eventType == 59 AND n.globalTid == r.globalTid AND n.start <= r.start AND n.end >= r.end
)
WHERE nearest = 1
GROUP BY nvtxRange
