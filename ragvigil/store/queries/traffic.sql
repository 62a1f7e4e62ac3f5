-- Sizes of the records of each route on average, and the hours (UTC) at which they come.
SELECT
    service, environment, route,
    count() AS records,
    avg(lengthUTF8(ifNull(query, ''))) AS question_characters,
    avg(lengthUTF8(ifNull(answer, ''))) AS answer_characters,
    avg(length(`context.chunk_id`)) AS chunks,
    avg(length(`retrieved.chunk_id`)) AS retrieved,
    avg(length(`citations.target`)) AS citations,
    any(characters) AS chunk_characters,
    countResample(0, 24, 1)(1, toHour(minute)) AS hours
FROM records FINAL
LEFT JOIN
(
    SELECT
        service, environment, route,
        avgIf(measures['chunk_characters'], mapContains(measures, 'chunk_characters')) AS characters
    FROM record_shapes FINAL
    WHERE minute >= toDateTime({since:UInt32}, 'UTC')
    GROUP BY service, environment, route
) AS shapes USING (service, environment, route)
WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND backfill = ''
GROUP BY service, environment, route
ORDER BY records DESC, service, environment, route
