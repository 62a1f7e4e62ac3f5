-- How many records match, up to a limit, and how many of the newest of them have each value.
SELECT
    count() AS answers,
    sumMap([toString(route)], [toUInt64(1)]) AS routes,
    sumMap([toString(llm_model)], [toUInt64(1)]) AS models,
    sumMap([toString(prompt_version)], [toUInt64(1)]) AS prompt_versions
FROM
(
    SELECT route, llm_model, prompt_version
    FROM
    (
        @chosen
    )
    ORDER BY minute DESC, time DESC, trace_id, record_id
    LIMIT {most:UInt32}
)
