-- The nearest records before and after a record that ask its question in its place, and were made
-- with another prompt, model, index or release. Case, and signs at both ends, do not count. Rows are
-- sought by the index of questions, without FINAL; those that are found are merged with their other
-- generations.
WITH
    (
        SELECT tuple(
            trimBoth(lowerUTF8(ifNull(query, '')), {signs:String}), service, environment, route,
            (prompt_version, llm_model, index_epoch, service_version), toUnixTimestamp64Nano(time),
            question
        )
        FROM records FINAL
        PREWHERE minute = toDateTime({minute:UInt32}, 'UTC')
            AND trace_id = {trace_id:String}
            AND record_id = {record_id:String}
        LIMIT 1
    ) AS asked
SELECT
    toUnixTimestamp64Nano(time) > asked.6 AS is_later,
    argMin(trace_id, abs(toUnixTimestamp64Nano(time) - asked.6)) AS trace,
    argMin(record_id, abs(toUnixTimestamp64Nano(time) - asked.6)) AS record
FROM records FINAL
PREWHERE (minute, trace_id, record_id) IN
(
    SELECT minute, trace_id, record_id
    FROM records
    WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND minute <= toDateTime({until:UInt32}, 'UTC')
        AND service = asked.2
        AND environment = asked.3
        AND route = asked.4
        AND asked.1 != ''
        AND question = asked.7
        AND trimBoth(lowerUTF8(ifNull(query, '')), {signs:String}) = asked.1
)
WHERE service = asked.2
    AND environment = asked.3
    AND route = asked.4
    AND asked.1 != ''
    AND trimBoth(lowerUTF8(ifNull(query, '')), {signs:String}) = asked.1
    AND (prompt_version, llm_model, index_epoch, service_version) != asked.5
GROUP BY is_later
