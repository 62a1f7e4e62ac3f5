-- Records that got bad feedback since a time, by the narrowest id that it has.
WITH told AS
(
    SELECT trace_id, span_id, response_id
    FROM feedback FINAL
    WHERE received >= toDateTime64({since:Float64}, 9, 'UTC') AND value < 0.5
)
SELECT DISTINCT trace_id, record_id
FROM records
WHERE minute >= toDateTime({minute:UInt32}, 'UTC')
    AND
    (
        hasAny(response_ids, (SELECT groupArray(response_id) FROM told WHERE response_id != ''))
        OR hasAny(
            arrayPushBack(span_ids, record_id),
            (SELECT groupArray(span_id) FROM told WHERE span_id != '' AND response_id = '')
        )
        OR trace_id IN
        (
            SELECT trace_id FROM told WHERE trace_id != '' AND span_id = '' AND response_id = ''
        )
    )
ORDER BY trace_id, record_id
LIMIT 1000
