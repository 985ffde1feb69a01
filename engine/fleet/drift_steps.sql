-- Rows whose steps have peaks that go up or down: the median of the last third of the steps against that of the first.
WITH numbered AS (
  SELECT facts.id, facts.place, facts.run, facts.rank, facts.device, CAST(steps.peak_requested AS DOUBLE) AS peak,
         row_number() OVER (PARTITION BY facts.id ORDER BY steps.step) AS nth,
         COUNT(*) OVER (PARTITION BY facts.id) AS step_rows
  FROM steps
  JOIN facts ON facts.id = steps.id
  WHERE steps.peak_requested IS NOT NULL
),
thirds AS (
  SELECT id, place, run, rank, device, step_rows, peak, CASE WHEN 3 * nth <= step_rows THEN 1 ELSE 3 END AS third
  FROM numbered
  WHERE step_rows >= 6 AND (3 * nth <= step_rows OR 3 * (step_rows - nth + 1) <= step_rows)
),
sorted AS (
  SELECT thirds.*,
         row_number() OVER (PARTITION BY id, third ORDER BY peak) AS nth,
         COUNT(*) OVER (PARTITION BY id, third) AS third_rows
  FROM thirds
),
medians AS (
  SELECT id, place, run, rank, device, step_rows,
         AVG(CASE WHEN third = 1 THEN peak END) AS first_third,
         AVG(CASE WHEN third = 3 THEN peak END) AS last_third
  FROM sorted
  WHERE 2 * nth BETWEEN third_rows AND third_rows + 2
  GROUP BY id, place, run, rank, device, step_rows
)
SELECT id, run, rank, device, step_rows AS steps, first_third, last_third, last_third - first_third AS drift,
       CASE WHEN first_third > 0 THEN (last_third - first_third) / first_third END AS share
FROM medians
WHERE ABS(last_third - first_third) >= 1048576e0 AND ABS(last_third - first_third) >= 1e-2 * first_third
ORDER BY ABS(last_third - first_third) DESC, place
