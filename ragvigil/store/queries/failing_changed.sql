-- Records of these minutes that fail in another way than `failures` holds. `digest` names all that a
-- record fails by now; it is 0 for records that no longer fail. Digests of single reasons are summed,
-- so that their order does not matter. Feedback belongs to a record by the narrowest id that it has.
WITH told AS
(
    SELECT trace_id, span_id, response_id
    FROM feedback FINAL
    WHERE received >= toDateTime64({first:UInt32}, 9, 'UTC') AND value < 0.5
)
SELECT
    toUnixTimestamp(changed.minute) AS minute, trace_id, record_id, sum(found) AS digest
FROM
(
    SELECT
        minute, trace_id, record_id, toUInt64(0) AS known,
        cityHash64(
            rubric, scorer, segment, stream, label, explanation, details, generation
        ) AS found
    FROM scores FINAL
    WHERE minute IN {minutes:Array(DateTime('UTC'))}
        AND
        (
            @failing
        )
    UNION ALL
    SELECT
        minute, trace_id, record_id, toUInt64(0) AS known,
        cityHash64('measure', measure, label, generation) AS found
    FROM
    (
        @measured
    )
    UNION ALL
    SELECT
        minute, trace_id, record_id, toUInt64(0) AS known, cityHash64('redrawn', generation) AS found
    FROM records FINAL
    WHERE minute IN {minutes:Array(DateTime('UTC'))} AND trace_id IN {redrawn:Array(String)}
        AND concat(trace_id, ' ', record_id) IN {redrawn_keys:Array(String)}
    UNION ALL
    SELECT
        minute, trace_id, record_id, toUInt64(0) AS known,
        cityHash64('error', error, generation) AS found
    FROM records FINAL
    WHERE minute IN {minutes:Array(DateTime('UTC'))} AND error IS NOT NULL
    UNION ALL
    SELECT minute, trace_id, record_id, toUInt64(0) AS known, cityHash64('disliked') AS found
    FROM records FINAL
    WHERE minute IN {minutes:Array(DateTime('UTC'))}
        AND
        (
            arrayExists(value -> ifNull(value, 1) < 0.5, feedback.value)
            OR hasAny(response_ids, (SELECT groupArray(response_id) FROM told WHERE response_id != ''))
            OR hasAny(
                arrayPushBack(span_ids, record_id),
                (SELECT groupArray(span_id) FROM told WHERE span_id != '' AND response_id = '')
            )
            OR trace_id IN
            (
                SELECT trace_id FROM told
                WHERE trace_id != '' AND span_id = '' AND response_id = ''
            )
        )
    UNION ALL
    SELECT minute, trace_id, record_id, argMax(digest, written) AS known, toUInt64(0) AS found
    FROM failures
    WHERE minute IN {minutes:Array(DateTime('UTC'))}
    GROUP BY minute, trace_id, record_id
) AS changed
GROUP BY changed.minute, trace_id, record_id
HAVING sum(found) != sum(known)
ORDER BY changed.minute, trace_id, record_id
LIMIT {limit:UInt32}
