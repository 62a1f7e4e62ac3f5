-- Counts an hour again by slices of the traffic, of a share of the traces by their hash; a slice
-- without answers any more gets zeros.
INSERT INTO slice_sums (
    start, service, environment, dimension, value, rubric, layer, segment, n, total, squares,
    failed, written, replica, epoch
)
SETTINGS insert_deduplicate = 0
WITH
    answers AS
    (
        SELECT
            toStartOfHour(minute) AS start, toString(service) AS service,
            toString(environment) AS environment, records.trace_id AS trace_id,
            records.record_id AS record_id,
            arrayPushBack(
@slices_of
            , ('', '')) AS parts
        FROM records FINAL
        LEFT JOIN
        (
@answer_topics
        ) AS placed ON placed.trace_id = records.trace_id AND placed.record_id = records.record_id
        WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
            AND cityHash64(records.trace_id) % 1000000 < {per_million:UInt32}
    ),
    frequent AS
    (
        SELECT start, service, environment, part
        FROM
        (
            SELECT start, service, environment, arrayJoin(parts) AS part, count() AS answers
            FROM answers
            GROUP BY start, service, environment, part
            ORDER BY answers DESC, part
            LIMIT {most:UInt32} BY start, service, environment, part.1
        )
    ),
    named AS
    (
        SELECT start, service, environment, trace_id, record_id, part.1 AS dimension,
            if((start, service, environment, part) IN frequent, part.2, '__other__') AS value
        FROM (SELECT *, arrayJoin(parts) AS part FROM answers)
    )
SELECT
    start, service, environment, dimension, value, rubric, layer, segment,
    sum(each.n), sum(each.total), sum(each.squares), sum(each.failed),
    fromUnixTimestamp64Nano({written:Int64}), {replica:String}, {epoch:UInt32}
FROM
(
    SELECT
        start, service, environment, dimension, value, '' AS rubric, '' AS layer, '' AS segment,
        count() AS n, toFloat64(0) AS total, toFloat64(0) AS squares, toUInt64(0) AS failed
    FROM named
    GROUP BY start, service, environment, dimension, value
    UNION ALL
    SELECT
        start, service, environment, dimension, value, scored.rubric AS rubric,
        scored.layer AS layer, scored.segment AS segment,
        count() AS n, sum(scored.value) AS total, sum(scored.value * scored.value) AS squares,
        toUInt64(sum(scored.failed)) AS failed
    FROM named
    INNER JOIN
    (
        SELECT
            trace_id, record_id, toString(rubric) AS rubric, toString(layer) AS layer,
            toString(segment) AS segment, assumeNotNull(value) AS value, failed
        FROM scores FINAL
        WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
            AND stream = 'base' AND scores.value IS NOT NULL
            AND cityHash64(trace_id) % 1000000 < {per_million:UInt32}
    ) AS scored ON scored.trace_id = named.trace_id AND scored.record_id = named.record_id
    GROUP BY start, service, environment, dimension, value, rubric, layer, segment
    UNION ALL
    SELECT
        start, toString(service) AS service, toString(environment) AS environment,
        toString(dimension) AS dimension, toString(value) AS value, toString(rubric) AS rubric,
        toString(layer) AS layer, toString(segment) AS segment,
        toUInt64(0) AS n, toFloat64(0) AS total, toFloat64(0) AS squares, toUInt64(0) AS failed
    FROM slice_sums FINAL
    WHERE start >= toDateTime({first:UInt32}, 'UTC') AND start < toDateTime({end:UInt32}, 'UTC')
) AS each
GROUP BY start, service, environment, dimension, value, rubric, layer, segment
