-- What differed where memory ran out first (first_oom.sql): its stacks at the peak against the median of the rows that it
-- is compared with. A row that has not the stack among its own counts as 0, so the zeros come first in the sorted values:
-- the nth of `having` values is number others - having + nth.
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
  SELECT facts.run, facts.id, COUNT(*) OVER (PARTITION BY facts.run) AS others
  FROM facts
  JOIN first_out ON first_out.run = facts.run
  JOIN sizes ON sizes.run = facts.run
  WHERE facts.id <> first_out.id AND (COALESCE(facts.ooms, 0) = 0 OR first_out.rows_out = sizes.run_rows)
),
held AS (
  SELECT id, stack, SUM(CAST(requested AS DOUBLE)) AS requested
  FROM peak_stacks
  WHERE stack IS NOT NULL
  GROUP BY id, stack
),
its AS (
  SELECT first_out.run, first_out.id, held.stack, held.requested
  FROM first_out
  JOIN held ON held.id = first_out.id
),
sorted AS (
  SELECT compared.run, held.stack, held.requested, compared.others,
         row_number() OVER (PARTITION BY compared.run, held.stack ORDER BY held.requested) AS nth,
         COUNT(*) OVER (PARTITION BY compared.run, held.stack) AS having_it
  FROM compared
  JOIN held ON held.id = compared.id
  JOIN its ON its.run = compared.run AND its.stack = held.stack
),
medians AS (
  SELECT run, stack, SUM(requested) / CASE WHEN MAX(others) % 2 = 0 THEN 2e0 ELSE 1e0 END AS median
  FROM sorted
  WHERE 2 * (others - having_it + nth) BETWEEN others AND others + 2
  GROUP BY run, stack
),
differences AS (
  SELECT its.run, its.id, its.stack, its.requested, COALESCE(medians.median, 0e0) AS median
  FROM its
  LEFT JOIN medians ON medians.run = its.run AND medians.stack = its.stack
)
SELECT differences.run, differences.id, differences.stack, stacks.who, differences.requested, differences.median,
       differences.requested - differences.median AS difference
FROM differences
LEFT JOIN stacks ON stacks.stack = differences.stack
ORDER BY differences.run, difference DESC, differences.stack
