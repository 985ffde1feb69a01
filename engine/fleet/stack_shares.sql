-- Stacks at the peaks of all rows.
WITH held AS (
  SELECT facts.run, facts.id, facts.place, peak_stacks.stack, SUM(CAST(peak_stacks.requested AS DOUBLE)) AS requested
  FROM peak_stacks
  JOIN facts ON facts.id = peak_stacks.id
  WHERE peak_stacks.stack IS NOT NULL
  GROUP BY facts.run, facts.id, facts.place, peak_stacks.stack
),
sorted AS (
  SELECT run, id, stack, requested,
         row_number() OVER (PARTITION BY run, stack ORDER BY requested) AS nth,
         row_number() OVER (PARTITION BY run, stack ORDER BY requested DESC, place) AS from_top,
         COUNT(*) OVER (PARTITION BY run, stack) AS having_it
  FROM held
),
sums AS (
  SELECT run, stack, COUNT(*) AS rows, SUM(requested) AS total,
         AVG(CASE WHEN 2 * nth BETWEEN having_it AND having_it + 2 THEN requested END) AS median,
         MAX(requested) AS most,
         MAX(CASE WHEN from_top = 1 THEN id END) AS most_id
  FROM sorted
  GROUP BY run, stack
),
peaks AS (
  SELECT run, SUM(CAST(peak_requested AS DOUBLE)) AS peaks FROM facts GROUP BY run
)
SELECT sums.run, sums.stack, stacks.who, sums.rows, sums.total,
       CASE WHEN peaks.peaks > 0 THEN sums.total / peaks.peaks END AS share,
       sums.median, sums.most, sums.most_id
FROM sums
JOIN peaks ON peaks.run = sums.run
LEFT JOIN stacks ON stacks.stack = sums.stack
ORDER BY sums.total DESC, sums.run, sums.stack
