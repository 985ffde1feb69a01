-- Ranks that should be there: the gaps from 0 to the highest rank, or to the size of the world if that is more. A run in
-- which no rank is known misses none.
WITH known AS (
  SELECT run, MAX(rank) AS highest FROM facts GROUP BY run
),
world AS (
  SELECT run, MAX(world_size) AS world_size FROM lines GROUP BY run
),
points AS (
  SELECT run, rank AS point FROM facts WHERE rank IS NOT NULL
  UNION
  SELECT run, -1 AS point FROM known WHERE highest IS NOT NULL
  UNION
  SELECT known.run, world.world_size AS point
  FROM known
  JOIN world ON world.run = known.run
  WHERE world.world_size > known.highest
),
neighbours AS (
  SELECT run, point, LEAD(point) OVER (PARTITION BY run ORDER BY point) AS next_point FROM points
)
SELECT run, point + 1 AS from_rank, next_point - 1 AS to_rank
FROM neighbours
WHERE next_point - 1 > point
ORDER BY run, from_rank
