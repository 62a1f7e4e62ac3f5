-- Requests by hour that showed each value, added up over all replicas. Of a prompt only the sentences
-- count that a share of the hour's requests have: the others hold what a request is about.
WITH hourly AS
(
    SELECT
        service, environment, route, kind, value, toUnixTimestamp(toStartOfHour(minute)) AS hour,
        sum(counted) AS requests
    FROM fingerprint_minutes FINAL
    ARRAY JOIN `counts.kind` AS kind, `counts.value` AS value, `counts.requests` AS counted
    WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND kind IN {kinds:Array(String)}
    GROUP BY service, environment, route, kind, value, hour
),
templates AS
(
    SELECT
        service, environment, route, kind, hour,
        arrayStringConcat(
            arrayFilter(sentence -> has(sentences, sentence), splitByChar(' ', value)), ' '
        ) AS value,
        sum(hourly.requests) AS requests
    FROM hourly
    INNER JOIN
    (
        SELECT service, environment, route, hour, groupArray(sentence) AS sentences
        FROM
        (
            SELECT
                service, environment, route, hour, arrayJoin(splitByChar(' ', value)) AS sentence,
                sum(hourly.requests) AS having_it
            FROM hourly
            WHERE kind = 'template' AND value != ''
            GROUP BY service, environment, route, hour, sentence
        ) AS of_sentence
        INNER JOIN
        (
            SELECT service, environment, route, hour, sum(hourly.requests) AS asked
            FROM hourly
            WHERE kind = 'template' AND value != ''
            GROUP BY service, environment, route, hour
        ) AS of_hour USING (service, environment, route, hour)
        WHERE having_it >= {share:Float64} * asked
        GROUP BY service, environment, route, hour
    ) AS shared USING (service, environment, route, hour)
    WHERE kind = 'template' AND value != ''
    GROUP BY service, environment, route, kind, hour, value
)
SELECT
    service, environment, route, kind, value,
    groupArray(hour) AS hours, groupArray(asked) AS requests
FROM
(
    SELECT service, environment, route, kind, value, hour, requests AS asked FROM hourly WHERE kind != 'template'
    UNION ALL
    SELECT service, environment, route, kind, value, hour, requests AS asked FROM templates
    ORDER BY hour
)
GROUP BY service, environment, route, kind, value
ORDER BY sum(asked) DESC
LIMIT {most:UInt32} BY service, environment, route, kind
