-- Peaks against the run before, rank by rank, but of damaged files. Runs follow each other by their first event, then by name.
WITH starts AS (
  SELECT run, MIN(first_us) AS first_us FROM facts GROUP BY run
),
in_order AS (
  SELECT run, LAG(run) OVER (ORDER BY first_us NULLS FIRST, run) AS run_before FROM starts
),
pairs AS (
  SELECT facts.run, in_order.run_before, facts.id, facts.place, CAST(facts.peak_requested AS DOUBLE) AS peak,
         CAST(earlier.peak_requested AS DOUBLE) AS peak_before,
         CAST(facts.peak_requested AS DOUBLE) - CAST(earlier.peak_requested AS DOUBLE) AS change
  FROM in_order
  JOIN facts ON facts.run = in_order.run
  JOIN facts AS earlier
    ON earlier.run = in_order.run_before AND earlier.rank = facts.rank AND earlier.device = facts.device
  WHERE facts.peak_requested IS NOT NULL AND earlier.peak_requested IS NOT NULL
    AND CASE WHEN facts.damaged THEN 1 WHEN earlier.damaged THEN 1 ELSE 0 END = 0
),
sorted AS (
  SELECT pairs.*,
         row_number() OVER (PARTITION BY run ORDER BY peak) AS nth_peak,
         row_number() OVER (PARTITION BY run ORDER BY peak_before) AS nth_before,
         row_number() OVER (PARTITION BY run ORDER BY change) AS nth_change,
         row_number() OVER (PARTITION BY run ORDER BY ABS(change) DESC, place) AS from_top,
         COUNT(*) OVER (PARTITION BY run) AS pair_rows
  FROM pairs
),
medians AS (
  SELECT run, run_before, COUNT(*) AS pair_rows,
         AVG(CASE WHEN 2 * nth_peak BETWEEN pair_rows AND pair_rows + 2 THEN peak END) AS median_peak,
         AVG(CASE WHEN 2 * nth_before BETWEEN pair_rows AND pair_rows + 2 THEN peak_before END) AS median_before,
         AVG(CASE WHEN 2 * nth_change BETWEEN pair_rows AND pair_rows + 2 THEN change END) AS drift,
         MAX(CASE WHEN from_top = 1 THEN change END) AS most_drift,
         MAX(CASE WHEN from_top = 1 THEN id END) AS most_id
  FROM sorted
  GROUP BY run, run_before
)
SELECT medians.run, medians.run_before AS before, medians.pair_rows AS rows, medians.median_peak, medians.median_before,
       medians.drift, CASE WHEN medians.median_before > 0 THEN medians.drift / medians.median_before END AS share,
       medians.most_drift, medians.most_id
FROM medians
JOIN starts ON starts.run = medians.run
ORDER BY starts.first_us NULLS FIRST, medians.run
