-- What `ridgeline check` finds, by how many captures of a job have it; `only_on` names them where they are few.
WITH parts AS (
  SELECT job, count(*) AS captures FROM (SELECT job, host, rank FROM fleet_process GROUP BY job, host, rank) GROUP BY job
), found AS (
  SELECT job, host, rank, rule, max(share) AS share, min(message) AS message
  FROM fleet_finding WHERE level IN ('warning', 'error') AND because IS NULL GROUP BY job, host, rank, rule
), counted AS (
  SELECT job, rule, count(*) AS captures, median(share) AS share, min(message) AS example,
    string_agg(concat(host, ':', rank), ', ' ORDER BY host, rank) AS places
  FROM found GROUP BY job, rule
)
SELECT counted.job, counted.rule, counted.captures, parts.captures AS of_captures,
  round(100 * counted.share, 1) AS median_share_pct,
  CASE WHEN 4 * counted.captures <= parts.captures AND counted.captures <= 8 THEN places END AS only_on, example
FROM counted JOIN parts ON counted.job = parts.job
ORDER BY counted.job, counted.captures DESC, counted.share DESC, counted.rule
