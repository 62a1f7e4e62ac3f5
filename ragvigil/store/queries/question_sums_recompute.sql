-- Answers of some hours by five minutes and route, and how crowded their questions are. Questions
-- are told apart as in `parts/repeats.sql`; an answer without a question stands for itself.
INSERT INTO question_sums (
    start, service, environment, route, answers, crowding, written, replica, epoch
)
SETTINGS insert_deduplicate = 0
SELECT
    start, service, environment, route, sum(each.answers), sum(each.crowding),
    fromUnixTimestamp64Nano({written:Int64}), {replica:String}, {epoch:UInt32}
FROM
(
    SELECT
        start, service, environment, route, asked AS answers,
        asked * greatest(
            1,
            times / quantileExactLowIf(0.5)(times, asking = 1) OVER (
                PARTITION BY service, environment, route, hour
            )
        ) AS crowding
    FROM
    (
        SELECT
            start, service, environment, route, toStartOfHour(start) AS hour, asked,
            sum(asked) OVER asker AS times,
            row_number() OVER (
                PARTITION BY service, environment, route, toStartOfHour(start), question
                ORDER BY start
            ) AS asking
        FROM
        (
            SELECT
                toStartOfFiveMinutes(minute) AS start, service, environment, route,
                if(
                    ifNull(query, '') = '',
                    cityHash64(trace_id, record_id),
                    cityHash64(trimBoth(lowerUTF8(assumeNotNull(query)), {signs:String}))
                ) AS question,
                count() AS asked
            FROM records FINAL
            WHERE minute >= toDateTime({first:UInt32}, 'UTC')
                AND minute < toDateTime({end:UInt32}, 'UTC')
            GROUP BY start, service, environment, route, question
        )
        WINDOW asker AS (
            PARTITION BY service, environment, route, toStartOfHour(start), question
        )
    )
    UNION ALL
    SELECT start, service, environment, route, toUInt64(0) AS answers, toFloat64(0) AS crowding
    FROM question_sums FINAL
    WHERE start >= toDateTime({first:UInt32}, 'UTC') AND start < toDateTime({end:UInt32}, 'UTC')
) AS each
GROUP BY start, service, environment, route
