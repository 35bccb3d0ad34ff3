-- nsys-ai, docs/agent_skills/skills/sql.md: top kernels by total GPU time
SELECT s.value AS name, COUNT(*) AS cnt,
       SUM(k.[end]-k.start)/1e6 AS total_ms,
       ROUND(100.0*SUM(k.[end]-k.start) /
         (SELECT MAX([end])-MIN(start) FROM CUPTI_ACTIVITY_KIND_KERNEL), 1) AS pct
FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON k.shortName=s.id
GROUP BY k.shortName ORDER BY total_ms DESC LIMIT 15
