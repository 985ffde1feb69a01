-- Stacks that leak, and on how many rows of the run they do.
WITH leaking AS (
  SELECT facts.run, facts.id, facts.place, leak_stacks.stack, CAST(leak_stacks.live_bytes AS DOUBLE) AS live_bytes,
         CAST(leak_stacks.bytes_per_step AS DOUBLE) AS bytes_per_step
  FROM leak_stacks
  JOIN facts ON facts.id = leak_stacks.id
  WHERE leak_stacks.stack IS NOT NULL
),
ranked AS (
  SELECT leaking.*,
         row_number() OVER (
           PARTITION BY run, stack ORDER BY live_bytes DESC NULLS LAST, bytes_per_step DESC NULLS LAST, place
         ) AS from_top
  FROM leaking
),
sums AS (
  SELECT run, stack, COUNT(DISTINCT id) AS rows, SUM(live_bytes) AS live_bytes,
         MAX(CASE WHEN from_top = 1 THEN live_bytes END) AS most_live,
         MAX(CASE WHEN from_top = 1 THEN bytes_per_step END) AS bytes_per_step,
         MAX(CASE WHEN from_top = 1 THEN id END) AS most_id
  FROM ranked
  GROUP BY run, stack
),
sizes AS (
  SELECT run, COUNT(*) AS of_rows FROM facts GROUP BY run
)
SELECT sums.run, sums.stack, stacks.who, sums.rows, sizes.of_rows, sums.live_bytes, sums.most_live, sums.bytes_per_step,
       sums.most_id
FROM sums
JOIN sizes ON sizes.run = sums.run
LEFT JOIN stacks ON stacks.stack = sums.stack
ORDER BY sums.live_bytes DESC NULLS LAST, sums.run, sums.stack
