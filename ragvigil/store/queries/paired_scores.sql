-- The judge's score of each record beside that of a local model; a row a record and rubric. Records
-- without a verdict count too, where a local model scored them; `segment` is empty there.
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
