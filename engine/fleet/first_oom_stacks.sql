-- What differed where memory ran out first (first_oom.sql): its stacks at the peak against the median of the rows that it
-- is compared with. A row that has not the stack among its own counts as 0, so the zeros come first in the sorted values:
-- the nth of `having` values is number others - having + nth.
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
  SELECT others.run, others.id, COUNT(*) OVER (PARTITION BY others.run) AS others
  FROM others
  JOIN nearest ON nearest.run = others.run AND nearest.distance = others.distance
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
  JOIN members ON members.id = first_out.id AND members.is_damaged = 0
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
