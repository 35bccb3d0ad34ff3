-- nsys-ai, docs/agent_skills/skills/sql.md: NVTX annotation names
SELECT DISTINCT COALESCE(n.text, s.value) AS name
FROM NVTX_EVENTS n LEFT JOIN StringIds s ON n.textId=s.id
WHERE name IS NOT NULL ORDER BY name LIMIT 30
