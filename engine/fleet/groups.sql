-- Groups of ranks against each other; of damaged files no peak counts.
WITH members AS (
  SELECT DISTINCT facts.run, groups.kind, groups.name, facts.id, facts.place, facts.ooms,
         CASE WHEN facts.damaged THEN NULL ELSE CAST(facts.peak_requested AS DOUBLE) END AS peak
  FROM groups
  JOIN facts ON facts.rank = groups.rank AND (groups.run = '' OR groups.run = facts.run)
),
sorted AS (
  SELECT members.*,
         row_number() OVER (PARTITION BY run, kind, name ORDER BY peak NULLS LAST) AS nth,
         row_number() OVER (PARTITION BY run, kind, name ORDER BY peak DESC NULLS LAST, place) AS from_top,
         COUNT(peak) OVER (PARTITION BY run, kind, name) AS peaks
  FROM members
)
SELECT run, kind, name, COUNT(*) AS rows,
       AVG(CASE WHEN 2 * nth BETWEEN peaks AND peaks + 2 THEN peak END) AS median_peak,
       MIN(peak) AS least_peak,
       MAX(peak) AS most_peak,
       MAX(CASE WHEN from_top = 1 THEN id END) AS most_id,
       COUNT(CASE WHEN ooms > 0 THEN 1 END) AS ooms
FROM sorted
GROUP BY run, kind, name
ORDER BY run, kind, LENGTH(name), name
