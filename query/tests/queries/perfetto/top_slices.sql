-- Perfetto, Getting Started with PerfettoSQL: slices by name
SELECT name, COUNT(*) AS count, SUM(dur) AS total, MIN(dur) AS least, MAX(dur) AS most
FROM slice GROUP BY name ORDER BY total DESC, name LIMIT 40
