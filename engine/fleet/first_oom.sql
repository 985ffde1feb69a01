-- Of each run the row that ran out of memory first, and the peaks of those that it is compared with: the rows of its pipeline
-- stage that did not run out (distance 0), else those of its stage that did (1), else those of other stages. A
-- damaged file's row is none of them, and has no peak of its own.
WITH stages AS (
  SELECT run, rank, MIN(name) AS stage FROM groups WHERE kind = 'pp' GROUP BY run, rank
),
members AS (
  SELECT facts.run, facts.id, facts.place, facts.ooms, facts.oom_us, facts.peak_requested,
         CASE WHEN facts.damaged THEN 1 ELSE 0 END AS is_damaged,
         COALESCE(own.stage, shared.stage, '') AS stage
  FROM facts
  LEFT JOIN stages AS own ON own.run = facts.run AND own.rank = facts.rank
  LEFT JOIN stages AS shared ON shared.run = '' AND shared.rank = facts.rank
),
ran_out AS (
  SELECT run, id, stage,
         row_number() OVER (PARTITION BY run ORDER BY oom_us NULLS LAST, place) AS nth,
         COUNT(*) OVER (PARTITION BY run) AS rows_out
  FROM members
  WHERE ooms > 0
),
first_out AS (
  SELECT run, id, stage, rows_out FROM ran_out WHERE nth = 1
),
others AS (
  SELECT members.run, members.id, members.peak_requested,
         CASE WHEN members.stage = first_out.stage THEN 0 ELSE 2 END
           + CASE WHEN members.ooms > 0 THEN 1 ELSE 0 END AS distance
  FROM members
  JOIN first_out ON first_out.run = members.run
  WHERE members.id <> first_out.id AND members.is_damaged = 0
),
nearest AS (
  SELECT run, MIN(distance) AS distance FROM others GROUP BY run
),
compared AS (
  SELECT others.run, others.peak_requested
  FROM others
  JOIN nearest ON nearest.run = others.run AND nearest.distance = others.distance
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
       facts.oom_stack, stacks.who, CASE WHEN facts.damaged THEN NULL ELSE facts.peak_requested END AS peak_requested,
       medians.median_peak, first_out.rows_out,
       CASE WHEN first_out.stage <> '' AND nearest.distance < 2 THEN 1 ELSE 0 END AS in_stage
FROM first_out
JOIN facts ON facts.id = first_out.id
LEFT JOIN nearest ON nearest.run = first_out.run
LEFT JOIN medians ON medians.run = facts.run
LEFT JOIN stacks ON stacks.stack = facts.oom_stack
ORDER BY facts.run
