-- nsys-ai, docs/02-sqlite-schema.md: top GPU kernels by total time
SELECT s.value AS kernel_name,
       COUNT(*) AS invocations,
       SUM(k.end - k.start) / 1e6 AS total_ms,
       AVG(k.end - k.start) / 1e6 AS avg_ms,
       MIN(k.end - k.start) / 1e6 AS min_ms,
       MAX(k.end - k.start) / 1e6 AS max_ms
FROM CUPTI_ACTIVITY_KIND_KERNEL k
JOIN StringIds s ON k.demangledName = s.id
GROUP BY s.value
ORDER BY total_ms DESC
LIMIT 15;
