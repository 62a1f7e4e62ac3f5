-- The verdicts of the first and the newest runs of a set; all rows of a run have the time it began.
SELECT *
FROM canary_scores FINAL
WHERE set_id = {set_id:String} AND run_id IN
(
    SELECT run_id FROM
    (
        SELECT
            run_id,
            row_number() OVER (ORDER BY min(time), run_id) AS from_first,
            row_number() OVER (ORDER BY min(time) DESC, run_id DESC) AS from_last
        FROM canary_scores
        WHERE set_id = {set_id:String}
        GROUP BY run_id
    )
    WHERE from_first = 1 OR from_last <= {last:UInt32}
)
ORDER BY time, run_id, rubric, segment, trace_id, record_id
