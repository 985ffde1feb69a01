-- The table `facts`: one row for each run, rank and device; of several lines the first that is not damaged. A line without
-- a rank stays. `place` counts the rows from 0, in the order that everything else keeps to.
WITH attempts AS (
  SELECT id,
         row_number() OVER (
           PARTITION BY run, rank, device, CASE WHEN rank IS NULL THEN id END
           ORDER BY CASE WHEN damaged THEN 1 ELSE 0 END, host NULLS FIRST, file NULLS FIRST, snapshot NULLS FIRST,
                    events DESC NULLS LAST, input_bytes DESC NULLS LAST, first_us NULLS FIRST,
                    peak_requested NULLS FIRST, end_requested NULLS FIRST, id
         ) AS nth
  FROM lines
)
SELECT lines.*,
       row_number() OVER (
         ORDER BY lines.run NULLS FIRST, lines.rank NULLS FIRST, lines.host NULLS FIRST, lines.file NULLS FIRST,
                  lines.snapshot NULLS FIRST, lines.device NULLS FIRST, lines.events DESC NULLS LAST,
                  lines.input_bytes DESC NULLS LAST, lines.first_us NULLS FIRST, lines.peak_requested NULLS FIRST,
                  lines.end_requested NULLS FIRST, lines.id
       ) - 1 AS place
FROM lines
JOIN attempts ON attempts.id = lines.id AND attempts.nth = 1
ORDER BY place
