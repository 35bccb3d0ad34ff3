-- nsys-ai, docs/02-sqlite-schema.md: memory transfers summary
SELECT copyKind,
       COUNT(*) AS count,
       SUM(bytes) / 1e6 AS total_mb,
       SUM(end - start) / 1e6 AS total_ms
FROM CUPTI_ACTIVITY_KIND_MEMCPY
GROUP BY copyKind;
-- copyKind: 1=H2D, 2=D2H, 8=D2D, 10=P2P
