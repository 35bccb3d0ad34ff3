-- NVIDIA, Common SQLite examples: process and thread ids of a global one
SELECT globalTid / 0x1000000 % 0x1000000 AS PID, globalTid % 0x1000000 AS TID, COUNT(*) AS ranges
FROM NVTX_EVENTS
GROUP BY globalTid
