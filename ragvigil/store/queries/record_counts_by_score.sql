-- How many of these records fail each rubric, in each layer, and have each label.
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
        AND minute <= toDateTime({until:UInt32}, 'UTC')
        AND cityHash64(trace_id, record_id) IN {keys:Array(UInt64)}
    WHERE failed OR label != ''
    GROUP BY trace_id, record_id
)
