-- nsys-ai, docs/agent_skills/skills/sql.md: NCCL time and breakdown
SELECT s.value AS op, COUNT(*) AS cnt,
       SUM(k.[end]-k.start)/1e6 AS total_ms
FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON k.shortName=s.id
WHERE LOWER(s.value) LIKE '%nccl%'
GROUP BY op ORDER BY total_ms DESC LIMIT 10
