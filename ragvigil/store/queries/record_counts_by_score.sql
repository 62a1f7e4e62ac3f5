-- How many of the newest records that match fail each rubric, in each layer, and have each label.
SELECT
    sumMap(rubrics, arrayMap(_ -> toUInt64(1), rubrics)) AS failing_rubrics,
    sumMap(layers, arrayMap(_ -> toUInt64(1), layers)) AS failing_layers,
    sumMap(all_labels, arrayMap(_ -> toUInt64(1), all_labels)) AS labels
FROM
(
    SELECT
        groupUniqArrayIf(toString(rubric), failed) AS rubrics,
        groupUniqArrayIf(toString(layer), failed) AS layers,
        arrayDistinct(
            arrayMap(
                part -> trimBoth(part),
                splitByChar(',', arrayStringConcat(groupUniqArray(toString(label)), ','))
            )
        ) AS all_labels
    FROM scores FINAL
    PREWHERE minute >= toDateTime({since:UInt32}, 'UTC')
        AND (minute, trace_id, record_id) IN
        (
            SELECT minute, trace_id, record_id
            FROM
            (
                @chosen
            )
            ORDER BY minute DESC, time DESC, trace_id, record_id
            LIMIT {most:UInt32}
        )
    WHERE failed OR label != ''
    GROUP BY trace_id, record_id
)
