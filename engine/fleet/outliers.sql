-- Rows far from their peers: the rows of one run, of the same pipeline stage where stages are given. Of a damaged file no
-- number is whole: its row is nobody's peer.
WITH stages AS (
  SELECT run, rank, MIN(name) AS stage FROM groups WHERE kind = 'pp' GROUP BY run, rank
),
members AS (
  SELECT facts.*, COALESCE(own.stage, shared.stage, '') AS stage
  FROM facts
  LEFT JOIN stages AS own ON own.run = facts.run AND own.rank = facts.rank
  LEFT JOIN stages AS shared ON shared.run = '' AND shared.rank = facts.rank
  WHERE CASE WHEN facts.damaged THEN 1 ELSE 0 END = 0
),
measured AS (
  SELECT 'peak_requested' AS fact, id, place, run, rank, device, stage, peak_requested AS value FROM members
  UNION ALL
  SELECT 'peak_reserved' AS fact, id, place, run, rank, device, stage, peak_reserved AS value FROM members
  UNION ALL
  SELECT 'end_requested' AS fact, id, place, run, rank, device, stage, end_requested AS value FROM members
  UNION ALL
  SELECT 'start_requested' AS fact, id, place, run, rank, device, stage, start_requested AS value FROM members
),
sorted AS (
  SELECT fact, run, stage, value,
         row_number() OVER (PARTITION BY fact, run, stage ORDER BY value) AS nth,
         COUNT(*) OVER (PARTITION BY fact, run, stage) AS peers
  FROM measured
  WHERE value IS NOT NULL
),
medians AS (
  SELECT fact, run, stage, peers, AVG(CAST(value AS DOUBLE)) AS median
  FROM sorted
  WHERE peers >= 4 AND 2 * nth BETWEEN peers AND peers + 2
  GROUP BY fact, run, stage, peers
),
deviations AS (
  SELECT measured.fact, measured.id, measured.place, measured.run, measured.rank, measured.device, measured.stage,
         measured.value, medians.median, medians.peers, CAST(measured.value AS DOUBLE) - medians.median AS deviation
  FROM measured
  JOIN medians ON medians.fact = measured.fact AND medians.run = measured.run AND medians.stage = measured.stage
  WHERE measured.value IS NOT NULL
),
sorted_deviations AS (
  SELECT fact, run, stage, peers, ABS(deviation) AS size,
         row_number() OVER (PARTITION BY fact, run, stage ORDER BY ABS(deviation)) AS nth
  FROM deviations
),
mads AS (
  SELECT fact, run, stage, AVG(size) AS mad
  FROM sorted_deviations
  WHERE 2 * nth BETWEEN peers AND peers + 2
  GROUP BY fact, run, stage
),
scales AS (
  SELECT medians.fact, medians.run, medians.stage, mads.mad,
         CASE
           WHEN 1.4826e0 * mads.mad >= 1e-2 * medians.median AND 1.4826e0 * mads.mad >= 1048576e0 THEN 1.4826e0 * mads.mad
           WHEN 1e-2 * medians.median >= 1048576e0 THEN 1e-2 * medians.median
           ELSE 1048576e0
         END AS scale
  FROM medians
  JOIN mads ON mads.fact = medians.fact AND mads.run = medians.run AND mads.stage = medians.stage
),
scored AS (
  SELECT deviations.*, scales.mad, deviations.deviation / scales.scale AS score
  FROM deviations
  JOIN scales ON scales.fact = deviations.fact AND scales.run = deviations.run AND scales.stage = deviations.stage
)
SELECT fact, id, run, rank, device, value, median, mad, score, peers
FROM scored
WHERE ABS(score) >= 6e0
ORDER BY ABS(score) DESC, fact, place
