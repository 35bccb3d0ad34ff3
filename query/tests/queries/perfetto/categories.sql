-- Perfetto's documents on JSON traces: time by category, nested slices apart
SELECT category, depth, COUNT(*) AS slices, SUM(dur) AS total
FROM slice WHERE category GLOB '*kernel*' OR category IN ('cpu_op', 'gpu_memcpy')
GROUP BY category, depth
