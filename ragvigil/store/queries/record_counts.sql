-- How many records match, up to one more than are counted; how many of the counted, the newest, have
-- each value; which those are, and the minute of the oldest of them.
SELECT
    count() AS answers,
    toUnixTimestamp(minIf(minute, nth <= {most:UInt32})) AS minute_seconds,
    groupArrayIf(cityHash64(trace_id, record_id), nth <= {most:UInt32}) AS keys,
    sumMapIf([toString(route)], [toUInt64(1)], nth <= {most:UInt32}) AS routes,
    sumMapIf([toString(llm_model)], [toUInt64(1)], nth <= {most:UInt32}) AS models,
    sumMapIf([toString(prompt_version)], [toUInt64(1)], nth <= {most:UInt32}) AS prompt_versions
FROM
(
    SELECT
        minute, route, llm_model, prompt_version, trace_id, record_id,
        row_number() OVER (ORDER BY minute DESC, time DESC, trace_id, record_id) AS nth
    FROM
    (
        SELECT minute, time, trace_id, record_id, route, llm_model, prompt_version
        FROM
        (
            @chosen
        )
        ORDER BY minute DESC, time DESC, trace_id, record_id
        LIMIT {most:UInt32} + 1
    )
)
