-- ROCm, rocpd: kernels by total time
SELECT name, COUNT(*) AS calls, SUM(duration) AS total, MIN(`end` - start) AS least, MAX(grid_x) AS widest
FROM kernels GROUP BY name
