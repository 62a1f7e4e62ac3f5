-- Questions without vectors: of each service and day the records whose trace ids have the smallest
-- hashes, and rated ones. That is a uniform sample; while a day goes on, members only leave it.
WITH chosen AS
(
    SELECT minute, trace_id, record_id, max(in_sample) AS is_sampled
    FROM
    (
        SELECT minute, trace_id, record_id, 1 AS in_sample
        FROM records FINAL
        WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND query != ''
        ORDER BY cityHash64('topics', trace_id), record_id
        LIMIT {per_day:UInt32} BY service, environment, toDate(minute)
        UNION ALL
        SELECT minute, trace_id, record_id, 0 AS in_sample
        FROM ratings
        WHERE minute >= toDateTime({since:UInt32}, 'UTC')
        ORDER BY cityHash64('topics', trace_id), record_id
        LIMIT {per_day:UInt32} BY service, environment, toDate(minute)
    )
    GROUP BY minute, trace_id, record_id
)
SELECT
    toUnixTimestamp(records.minute) AS minute_seconds, trace_id, record_id, service, environment,
    substringUTF8(assumeNotNull(query), 1, {characters:UInt32}) AS question, is_sampled,
    count() OVER () AS waiting
FROM records FINAL
INNER JOIN chosen USING (minute, trace_id, record_id)
WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND query != ''
    AND (trace_id, record_id) NOT IN
    (
        SELECT trace_id, record_id FROM questions
        WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND vector_model = {vector_model:String}
    )
ORDER BY is_sampled DESC, cityHash64('topics', trace_id), record_id
LIMIT {limit:UInt32}
