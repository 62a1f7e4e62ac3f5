-- All answers, as `label_candidates.sql` draws them from those with some score.
SELECT trace_id, record_id
FROM
(
    SELECT
        trace_id, record_id, gone, generation,
        sipHash64({salt:String}, trace_id, record_id) / 18446744073709551616. AS place
    FROM records
    WHERE minute >= toDateTime({since:UInt32}, 'UTC')
        AND ({service:String} = '' OR service = {service:String})
        AND ({route:String} = '' OR route = {route:String})
        AND place < {share:Float64}
    ORDER BY place
    LIMIT {rows:UInt32}
)
GROUP BY trace_id, record_id
HAVING argMax(gone, (generation, gone)) = 0
ORDER BY min(place), trace_id, record_id
LIMIT {limit:UInt32}
