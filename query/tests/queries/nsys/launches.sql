-- NVIDIA, Common SQLite examples: CUDA kernel launches with their API calls, as a query instead of new columns
SELECT api.value AS name, s.value AS kernelName, COUNT(*) AS calls, SUM(k.start - r.start) AS delay_ns
FROM CUPTI_ACTIVITY_KIND_RUNTIME r
JOIN CUPTI_ACTIVITY_KIND_KERNEL k ON r.correlationId = k.correlationId
  AND r.globalTid / 0x1000000 = k.globalPid / 0x1000000
JOIN StringIds s ON k.shortName = s.id
JOIN StringIds api ON r.nameId = api.id
GROUP BY 1, 2
