-- What a record asked, where, and with which version of the service.
SELECT
    trimBoth(lowerUTF8(ifNull(query, '')), {signs:String}) AS asked, question,
    service, environment, route, prompt_version, llm_model, index_epoch, service_version,
    toUnixTimestamp64Nano(time) AS time_nanos
FROM records FINAL
PREWHERE minute = toDateTime({minute:UInt32}, 'UTC')
    AND trace_id = {trace_id:String}
    AND record_id = {record_id:String}
LIMIT 1
