-- Answers that a queue of labels is drawn from, in the order of a salted hash: the same in every
-- process. Rows of one answer lie together in it, so that only the first rows are grouped, without
-- FINAL; the newest row of an answer says whether it is gone.
SELECT trace_id, record_id
FROM
(
    SELECT
        trace_id, record_id, gone, generation,
        sipHash64({salt:String}, trace_id, record_id) / 18446744073709551616. AS place
    FROM scores
    WHERE minute >= toDateTime({since:UInt32}, 'UTC')
        AND ({service:String} = '' OR service = {service:String})
        AND ({route:String} = '' OR route = {route:String})
        AND ({label:String} = '' OR has(arrayMap(part -> trimBoth(part), splitByChar(',', toString(label))), {label:String}))
        AND
        (
            ({drawn_from:String} = 'judged'
                AND kind = 'judge' AND stream = 'base' AND absent = '' AND rubric = {rubric:String})
            OR ({drawn_from:String} = 'suspicious' AND (failed = 1 OR stream = 'suspicious'))
            OR ({drawn_from:String} = 'scored')
        )
        AND place < {share:Float64}
    ORDER BY place
    LIMIT {rows:UInt32}
)
GROUP BY trace_id, record_id
HAVING argMax(gone, (generation, gone)) = 0
ORDER BY min(place), trace_id, record_id
LIMIT {limit:UInt32}
