-- ROCm, rocpd: API calls and ranges by name
SELECT name, COUNT(*) AS calls, SUM(duration) AS total FROM regions GROUP BY name
