-- How many records match, up to one more than are counted; how many of the counted, the newest, have
-- each value; and the minute of the oldest of them.
SELECT
    count() AS answers,
    toUnixTimestamp(minIf(minute, nth <= {most:UInt32})) AS minute_seconds,
    sumMapIf([toString(route)], [toUInt64(1)], nth <= {most:UInt32}) AS routes,
    sumMapIf([toString(llm_model)], [toUInt64(1)], nth <= {most:UInt32}) AS models,
    sumMapIf([toString(prompt_version)], [toUInt64(1)], nth <= {most:UInt32}) AS prompt_versions
FROM
(
    SELECT
        minute, route, llm_model, prompt_version,
        row_number() OVER (ORDER BY minute DESC, time DESC, trace_id, record_id) AS nth
    FROM
    (
        SELECT *
        FROM
        (
            @chosen
        )
        ORDER BY minute DESC, time DESC, trace_id, record_id
        LIMIT {most:UInt32} + 1
    )
)
