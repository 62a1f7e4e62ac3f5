-- Answers that users rated since a time, and how many of them badly; the worst word counts. What
-- was said of a session is about no single answer.
SELECT service, environment, route, count() AS rated, countIf(worst < 0.5) AS down
FROM
(
    SELECT
        service, environment, route, trace_id, record_id, min(value) AS worst
    FROM
    (
        SELECT
            service, environment, route, trace_id, record_id,
            arrayJoin(arrayFilter(value -> value IS NOT NULL, `feedback.value`)) AS value
        FROM records FINAL
        WHERE minute >= toDateTime({since:UInt32}, 'UTC')
        UNION ALL
        SELECT
            records.service, records.environment, records.route, records.trace_id,
            records.record_id, told.value AS value
        FROM
        (
            SELECT service, environment, route, trace_id, record_id
            FROM records FINAL
            WHERE minute >= toDateTime({since:UInt32}, 'UTC')
        ) AS records
        INNER JOIN
        (
            SELECT trace_id, value
            FROM feedback FINAL
            WHERE trace_id != '' AND span_id = '' AND response_id = '' AND value IS NOT NULL
        ) AS told ON told.trace_id = records.trace_id
        UNION ALL
        SELECT
            records.service, records.environment, records.route, records.trace_id,
            records.record_id, told.value AS value
        FROM
        (
            SELECT
                service, environment, route, trace_id, record_id,
                arrayJoin(arrayConcat(response_ids, span_ids, [record_id])) AS named
            FROM records FINAL
            WHERE minute >= toDateTime({since:UInt32}, 'UTC')
        ) AS records
        INNER JOIN
        (
            SELECT if(response_id != '', response_id, span_id) AS named, value
            FROM feedback FINAL
            WHERE (response_id != '' OR span_id != '') AND value IS NOT NULL
        ) AS told ON told.named = records.named
    )
    GROUP BY service, environment, route, trace_id, record_id
)
GROUP BY service, environment, route
ORDER BY service, environment, route
