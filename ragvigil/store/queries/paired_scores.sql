-- The judge's score of each record beside a local model's, a row per record and rubric. Records that
-- only a local model scored count too; their `segment` is empty.
SELECT
    service, environment, route, rubric, toString(any(layer)) AS layer,
    anyIf(value, stream = 'proxy') AS cheap,
    anyIf(value, stream = 'base') AS judged,
    anyIf(inclusion_probability, stream = 'base') AS probability,
    anyIf(toString(segment), stream = 'base') AS segment,
    toUnixTimestamp64Nano(max(time)) AS time_nanos
FROM scores FINAL
WHERE minute >= toDateTime({since:UInt32}, 'UTC')
    AND ((kind = 'judge' AND stream = 'base') OR stream = 'proxy')
GROUP BY service, environment, route, rubric, trace_id, record_id
ORDER BY service, environment, route, rubric, time_nanos DESC
LIMIT {most:UInt32} BY service, environment, route, rubric
