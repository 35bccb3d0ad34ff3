-- nsys-ai, docs/agent_skills/skills/sql.md: profile overview
SELECT (MAX([end]) - MIN(start)) / 1e9 AS span_s, COUNT(*) AS n_kernels
FROM CUPTI_ACTIVITY_KIND_KERNEL
