-- What each run has, and has not.
WITH read_lines AS (
  SELECT run, COUNT(*) AS lines_read, MAX(world_size) AS world_size FROM lines GROUP BY run
)
SELECT facts.run,
       COUNT(*) AS rows,
       COUNT(DISTINCT facts.rank) AS ranks,
       MIN(facts.rank) AS lowest_rank,
       MAX(facts.rank) AS highest_rank,
       MAX(read_lines.world_size) AS world_size,
       MAX(read_lines.lines_read) - COUNT(*) AS duplicates,
       COUNT(CASE WHEN facts.rank IS NULL THEN 1 END) AS without_rank,
       COUNT(CASE WHEN facts.damaged THEN 1 END) AS damaged,
       COUNT(CASE WHEN facts.first_us IS NULL THEN 1 END) AS without_times,
       MIN(facts.first_us) AS first_us,
       MAX(facts.last_us) AS last_us
FROM facts
JOIN read_lines ON read_lines.run = facts.run
GROUP BY facts.run
ORDER BY facts.run
