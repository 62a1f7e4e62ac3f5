-- Records that ask again what was asked before. In a quarter of an hour on a route, a question counts
-- as often as the median question does there: what many ask at once is one voice, and where all
-- requests are alike, each counts. Case, and signs at both ends, make no other question.
SELECT minute, trace_id, record_id
FROM
(
    SELECT
        minute, trace_id, record_id, asking,
        quantileExactLowIf(0.5)(times, asking = 1) OVER (
            PARTITION BY service, environment, route, quarter
        ) AS usual
    FROM
    (
        SELECT
            minute, trace_id, record_id, service, environment, route, quarter,
            row_number() OVER (
                PARTITION BY service, environment, route, quarter, question
                ORDER BY minute, trace_id, record_id
            ) AS asking,
            count() OVER (
                PARTITION BY service, environment, route, quarter, question
            ) AS times
        FROM
        (
            SELECT
                minute, trace_id, record_id, service, environment, route,
                intDiv(toUnixTimestamp(minute), 900) AS quarter,
                cityHash64(trimBoth(lowerUTF8(assumeNotNull(query)), {signs:String})) AS question
            FROM records FINAL
            WHERE minute >= toDateTime(intDiv({first:UInt32}, 900) * 900, 'UTC')
                AND minute < toDateTime({end:UInt32}, 'UTC') AND ifNull(query, '') != ''
        )
    )
)
WHERE asking > usual
