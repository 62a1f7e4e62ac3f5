-- Answers of each route by five minutes, and how crowded their questions are.
SELECT
    service, environment, route, groupArray(toUnixTimestamp(start)) AS starts,
    groupArray(toFloat64(answers)) AS answers, groupArray(crowding) AS crowding
FROM
(
    SELECT * FROM question_sums FINAL
    WHERE start >= toDateTime({first:UInt32}, 'UTC') AND start < toDateTime({end:UInt32}, 'UTC')
)
GROUP BY service, environment, route
ORDER BY service, environment, route
