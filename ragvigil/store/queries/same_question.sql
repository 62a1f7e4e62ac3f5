-- The nearest records before and after a time that ask the same question in the same place, and were
-- made with another prompt, model, index or release. Case, and signs at both ends, do not count.
SELECT
    toUnixTimestamp64Nano(time) > {nanos:Int64} AS is_later,
    argMin(trace_id, abs(toUnixTimestamp64Nano(time) - {nanos:Int64})) AS trace,
    argMin(record_id, abs(toUnixTimestamp64Nano(time) - {nanos:Int64})) AS record
FROM records FINAL
WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND minute <= toDateTime({until:UInt32}, 'UTC')
    AND service = {service:String}
    AND environment = {environment:String}
    AND route = {route:String}
    AND trimBoth(lowerUTF8(ifNull(query, '')), {signs:String})
        = trimBoth(lowerUTF8({question:String}), {signs:String})
    AND (prompt_version, llm_model, index_epoch, service_version)
        != ({prompt_version:String}, {llm_model:String}, {index_epoch:String}, {service_version:String})
GROUP BY is_later
