-- Answers that a queue of labels is drawn from, in the order of a salted hash: the same in every
-- process. Without FINAL: rows of one answer are grouped, and the newest says whether it is gone.
WITH sipHash64({salt:String}, trace_id, record_id) / 18446744073709551616. AS place
SELECT trace_id, record_id
FROM scores
WHERE minute >= toDateTime({since:UInt32}, 'UTC')
    AND ({service:String} = '' OR service = {service:String})
    AND ({route:String} = '' OR route = {route:String})
    AND ({label:String} = '' OR has(arrayMap(part -> trimBoth(part), splitByChar(',', toString(label))), {label:String}))
    AND
    (
        {drawn_from:String} = 'all'
        OR ({drawn_from:String} = 'judged'
            AND kind = 'judge' AND stream = 'base' AND absent = '' AND rubric = {rubric:String})
        OR ({drawn_from:String} = 'suspicious' AND (failed = 1 OR stream = 'suspicious'))
    )
    AND place < {share:Float64}
GROUP BY trace_id, record_id
HAVING argMax(gone, (generation, gone)) = 0
ORDER BY min(place), trace_id, record_id
LIMIT {limit:UInt32}
