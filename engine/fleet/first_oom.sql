-- Of each run the row that ran out of memory first, and the peaks of those that it is compared with.
WITH ran_out AS (
  SELECT run, id,
         row_number() OVER (PARTITION BY run ORDER BY oom_us NULLS LAST, place) AS nth,
         COUNT(*) OVER (PARTITION BY run) AS rows_out
  FROM facts
  WHERE ooms > 0
),
first_out AS (
  SELECT run, id, rows_out FROM ran_out WHERE nth = 1
),
sizes AS (
  SELECT run, COUNT(*) AS run_rows FROM facts GROUP BY run
),
compared AS (
  SELECT facts.run, facts.peak_requested
  FROM facts
  JOIN first_out ON first_out.run = facts.run
  JOIN sizes ON sizes.run = facts.run
  WHERE facts.id <> first_out.id AND (COALESCE(facts.ooms, 0) = 0 OR first_out.rows_out = sizes.run_rows)
),
sorted AS (
  SELECT run, peak_requested,
         row_number() OVER (PARTITION BY run ORDER BY peak_requested) AS nth,
         COUNT(*) OVER (PARTITION BY run) AS others
  FROM compared
  WHERE peak_requested IS NOT NULL
),
medians AS (
  SELECT run, AVG(CAST(peak_requested AS DOUBLE)) AS median_peak
  FROM sorted
  WHERE 2 * nth BETWEEN others AND others + 2
  GROUP BY run
)
SELECT facts.run, facts.id, facts.rank, facts.device, facts.oom_us, facts.oom_requested, facts.oom_device_free,
       facts.oom_stack, stacks.who, facts.peak_requested, medians.median_peak, first_out.rows_out
FROM first_out
JOIN facts ON facts.id = first_out.id
LEFT JOIN medians ON medians.run = facts.run
LEFT JOIN stacks ON stacks.stack = facts.oom_stack
ORDER BY facts.run
