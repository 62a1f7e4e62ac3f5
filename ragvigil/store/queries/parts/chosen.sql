SELECT * FROM
(
    @records
)
WHERE {asks_score:UInt8} = 0
    OR (minute, trace_id, record_id) IN
    (
        SELECT minute, trace_id, record_id FROM
        (
            @scores
        )
    )
