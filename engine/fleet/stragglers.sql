-- Rows that are more fragmented than their peers (see outliers.sql).
WITH stages AS (
  SELECT run, rank, MIN(name) AS stage FROM groups WHERE kind = 'pp' GROUP BY run, rank
),
members AS (
  SELECT facts.id, facts.place, facts.run, facts.rank, facts.device, facts.held_back,
         CAST(facts.fragmentation AS DOUBLE) AS fragmentation, COALESCE(own.stage, shared.stage, '') AS stage
  FROM facts
  LEFT JOIN stages AS own ON own.run = facts.run AND own.rank = facts.rank
  LEFT JOIN stages AS shared ON shared.run = '' AND shared.rank = facts.rank
  WHERE facts.fragmentation IS NOT NULL AND CASE WHEN facts.damaged THEN 1 ELSE 0 END = 0
),
sorted AS (
  SELECT run, stage, fragmentation,
         row_number() OVER (PARTITION BY run, stage ORDER BY fragmentation) AS nth,
         COUNT(*) OVER (PARTITION BY run, stage) AS peers
  FROM members
),
medians AS (
  SELECT run, stage, peers, AVG(fragmentation) AS median
  FROM sorted
  WHERE peers >= 4 AND 2 * nth BETWEEN peers AND peers + 2
  GROUP BY run, stage, peers
),
deviations AS (
  SELECT members.*, medians.median, medians.peers, members.fragmentation - medians.median AS deviation
  FROM members
  JOIN medians ON medians.run = members.run AND medians.stage = members.stage
),
sorted_deviations AS (
  SELECT run, stage, peers, ABS(deviation) AS size,
         row_number() OVER (PARTITION BY run, stage ORDER BY ABS(deviation)) AS nth
  FROM deviations
),
mads AS (
  SELECT run, stage, AVG(size) AS mad
  FROM sorted_deviations
  WHERE 2 * nth BETWEEN peers AND peers + 2
  GROUP BY run, stage
),
scored AS (
  SELECT deviations.*, mads.mad,
         deviation / CASE
           WHEN 1.4826e0 * mads.mad >= 1e-2 * median AND 1.4826e0 * mads.mad >= 1e-2 THEN 1.4826e0 * mads.mad
           WHEN 1e-2 * median >= 1e-2 THEN 1e-2 * median
           ELSE 1e-2
         END AS score
  FROM deviations
  JOIN mads ON mads.run = deviations.run AND mads.stage = deviations.stage
)
SELECT id, run, rank, device, fragmentation, held_back, median, mad, score
FROM scored
WHERE score >= 6e0
ORDER BY score DESC, place
