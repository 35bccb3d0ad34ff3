-- Perfetto, docs/analysis/trace-processor: a slice and the one around it
SELECT parent.name AS around, child.name AS inside, COUNT(*) AS times, SUM(child.dur) AS total
FROM slice child JOIN slice parent ON child.parent_id = parent.id
GROUP BY 1, 2 ORDER BY total DESC, 1, 2 LIMIT 20
