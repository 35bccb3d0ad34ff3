-- NVIDIA's and nsys-ai's skills: the time between kernels of a stream
WITH ordered AS (
  SELECT deviceId, streamId, start, "end", LAG("end") OVER (PARTITION BY deviceId, streamId ORDER BY start) AS before
  FROM CUPTI_ACTIVITY_KIND_KERNEL
)
SELECT deviceId, streamId, COUNT(*) AS gaps, SUM(start - before) AS idle_ns, MAX(start - before) AS longest_ns
FROM ordered WHERE start > before
GROUP BY deviceId, streamId
