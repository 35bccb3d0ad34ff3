-- ROCm, rocpd: copies by direction
SELECT name, COUNT(*) AS copies, SUM(size) AS bytes, SUM(duration) AS total FROM memory_copies GROUP BY name
