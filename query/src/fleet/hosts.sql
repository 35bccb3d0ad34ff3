-- Step time, and the device's idle and communicating time, of each host and rank beside the others of its job.
-- `slower` and `idle_more` compare with the job's median; `unlike` where a value is further from it than 5 times the usual
-- distance (the median of all distances), and by 5%: of the step, or of the capture.
WITH steps AS (
  SELECT job, host, rank, count(*) AS steps, CAST(median(wall_ns) AS DOUBLE) AS step_ns FROM fleet_step GROUP BY job, host, rank
), devices AS (
  SELECT job, host, rank, CAST(sum(idle_ns) AS DOUBLE) / sum(capture_ns) AS idle_share FROM fleet_device GROUP BY job, host, rank
), meeting AS (
  SELECT job, host, rank, CAST(sum(total_ns) AS DOUBLE) AS collective_ns FROM fleet_category
  WHERE category = 'collective' GROUP BY job, host, rank
), parts AS (
  SELECT job, host, rank FROM fleet_process GROUP BY job, host, rank
), part AS (
  SELECT parts.job, parts.host, parts.rank, steps, step_ns, idle_share, collective_ns
  FROM parts
  LEFT JOIN steps ON parts.job = steps.job AND parts.host = steps.host AND parts.rank = steps.rank
  LEFT JOIN devices ON parts.job = devices.job AND parts.host = devices.host AND parts.rank = devices.rank
  LEFT JOIN meeting ON parts.job = meeting.job AND parts.host = meeting.host AND parts.rank = meeting.rank
), usual AS (
  SELECT job, median(step_ns) AS step_ns, median(idle_share) AS idle_share, median(collective_ns) AS collective_ns
  FROM part GROUP BY job
), apart AS (
  SELECT part.job, median(abs(part.step_ns - usual.step_ns)) AS step_ns,
    median(abs(part.idle_share - usual.idle_share)) AS idle_share
  FROM part JOIN usual ON part.job = usual.job GROUP BY part.job
), judged AS (
  SELECT part.*, part.step_ns / usual.step_ns - 1 AS slower, part.idle_share - usual.idle_share AS idle_more,
    part.collective_ns / usual.collective_ns - 1 AS collective_more,
    abs(part.step_ns - usual.step_ns) > greatest(5 * apart.step_ns, 0.05 * usual.step_ns) AS step_unlike,
    abs(part.idle_share - usual.idle_share) > greatest(5 * apart.idle_share, 0.05) AS idle_unlike,
    -- Who arrives last waits least, so the collectives of all others last longer.
    part.collective_ns < 0.5 * usual.collective_ns AS waited_for
  FROM part JOIN usual ON part.job = usual.job JOIN apart ON part.job = apart.job
)
SELECT job, host, rank, steps, CAST(round(step_ns) AS BIGINT) AS step_ns, round(100 * slower, 1) AS slower_pct,
  round(100 * idle_share, 1) AS idle_pct, round(100 * collective_more, 1) AS collective_more_pct,
  concat_ws(', ',
    CASE WHEN step_unlike AND slower > 0 THEN 'slower steps' WHEN step_unlike THEN 'faster steps' END,
    CASE WHEN idle_unlike AND idle_more > 0 THEN 'more idle' WHEN idle_unlike THEN 'less idle' END,
    CASE WHEN waited_for THEN 'others wait for it (inferred: half of their time in collectives, or less)' END) AS unlike
FROM judged
ORDER BY (CASE WHEN step_unlike OR idle_unlike OR waited_for THEN 0 ELSE 1 END), slower DESC NULLS LAST, job, host, rank
