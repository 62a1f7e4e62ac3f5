-- Sums of the judged answers of some hours, and of the cheap scores of all answers, by five minutes;
-- `:failed` is the share of judged answers that fail. A judged answer whose cheap score is missing
-- gets the mean of its five minutes, so that it moves no slope. What is no longer there gets zeros.
INSERT INTO judged_sums (
    start, service, environment, route, rubric, layer, segment, sums, written, replica, epoch
)
-- Replaced by version: sums that are the same as before must be written all the same.
SETTINGS insert_deduplicate = 0
SELECT
    start, service, environment, route, rubric, layer, segment, sumForEach(each.sums),
    fromUnixTimestamp64Nano({written:Int64}), {replica:String}, {epoch:UInt32}
FROM
(
    SELECT
        start, service, environment, route, series.1 AS rubric, layer, series.2 AS segment,
        series.3 AS y, ifNull(own, typical) AS x, toFloat64(is_valued) AS a, weight AS w,
        [1, x, x * x, a, a * x, a * y, a * y * y, a * x * y] AS terms,
        if(
            is_cheap,
            arrayConcat(arrayResize(emptyArrayFloat64(), 20), [1, w, w * x, w * x * x]),
            arrayConcat(
                [1, toFloat64(own IS NOT NULL), a, a * y],
                arrayMap(term -> w * term, terms),
                arrayMap(term -> w * w * term, terms),
                arrayResize(emptyArrayFloat64(), 4)
            )
        ) AS sums
    FROM
    (
        SELECT
            toStartOfFiveMinutes(minute) AS start, service, environment, route, layer,
            toString(rubric) AS name, if(stream = 'proxy', '', toString(segment)) AS versions,
            stream = 'proxy' AS is_cheap, value IS NOT NULL AS is_valued,
            ifNull(value, 0) AS score, toFloat64(failed) AS failure,
            1 / inclusion_probability AS weight,
            maxIf(value, stream = 'proxy') OVER (
                PARTITION BY minute, trace_id, record_id, rubric
            ) AS own,
            ifNull(
                sumIf(score * weight, is_cheap AND is_valued) OVER five
                / nullIf(sumIf(weight, is_cheap AND is_valued) OVER five, 0),
                0
            ) AS typical
        FROM scores FINAL
        WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
            AND ((kind = 'judge' AND stream IN ('base', 'boost')) OR stream = 'proxy')
            AND absent = '' AND inclusion_probability > 0
        WINDOW five AS (PARTITION BY start, service, environment, route, rubric)
    )
    ARRAY JOIN [(name, versions, score), (concat(name, ':failed'), versions, failure)] AS series
    WHERE NOT is_cheap OR is_valued
    UNION ALL
    SELECT
        start, service, environment, route, rubric, layer, segment, 0 AS y, 0 AS x, 0 AS a, 0 AS w,
        emptyArrayFloat64() AS terms, arrayResize(emptyArrayFloat64(), 24) AS sums
    FROM judged_sums FINAL
    WHERE start >= toDateTime({first:UInt32}, 'UTC') AND start < toDateTime({end:UInt32}, 'UTC')
) AS each
GROUP BY start, service, environment, route, rubric, layer, segment
