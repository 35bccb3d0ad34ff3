-- Wall time of each marked step of each host and rank, beside the median of that step in the job.
WITH step AS (
  -- Steps without a number are counted in the order of their names.
  SELECT job, host, rank, wall_ns,
    coalesce(CAST(number AS BIGINT), CAST(row_number() OVER (PARTITION BY job, host, rank ORDER BY number, step) AS BIGINT) - 1) AS number
  FROM fleet_step
), part AS (
  SELECT job, host, rank, number, max(wall_ns) AS wall_ns FROM step GROUP BY job, host, rank, number
), usual AS (
  SELECT job, number, CAST(median(wall_ns) AS DOUBLE) AS wall_ns, count(*) AS places FROM part GROUP BY job, number
)
SELECT part.job, part.host, part.rank, part.number AS step, part.wall_ns,
  round(100 * (part.wall_ns / usual.wall_ns - 1), 1) AS slower_pct, usual.places AS of_places
FROM part JOIN usual ON part.job = usual.job AND part.number = usual.number
ORDER BY part.job, part.host, part.rank, part.number
