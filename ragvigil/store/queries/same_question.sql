-- The nearest records before and after a record that ask its question in its place, and were made
-- with another prompt, model, index or release. Case, and signs at both ends, do not count. Rows are
-- sought by the index of questions, without FINAL; those that are found are merged with their other
-- generations.
SELECT
    toUnixTimestamp64Nano(time) > {time_nanos:Int64} AS is_later,
    argMin(trace_id, abs(toUnixTimestamp64Nano(time) - {time_nanos:Int64})) AS trace,
    argMin(record_id, abs(toUnixTimestamp64Nano(time) - {time_nanos:Int64})) AS record
FROM records FINAL
PREWHERE (minute, trace_id, record_id) IN
(
    SELECT minute, trace_id, record_id
    FROM records
    WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND minute <= toDateTime({until:UInt32}, 'UTC')
        AND question = {question:UInt64}
        AND (trace_id, record_id) != ({trace_id:String}, {record_id:String})
)
WHERE service = {service:String}
    AND environment = {environment:String}
    AND route = {route:String}
    AND trimBoth(lowerUTF8(ifNull(query, '')), {signs:String}) = {asked:String}
    AND (prompt_version, llm_model, index_epoch, service_version)
        != ({prompt_version:String}, {llm_model:String}, {index_epoch:String}, {service_version:String})
GROUP BY is_later
