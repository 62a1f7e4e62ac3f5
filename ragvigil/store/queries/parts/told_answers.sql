(
    -- Answers of the range of which users said something: each kind once, the worst word counts. A
    -- rating says nothing without a value; an escalation, correction or retry is one without.
    SELECT trace_id, record_id, groupArray(kind) AS kinds, groupArray(is_bad) AS bad
    FROM
    (
        SELECT
            trace_id, record_id, if(told.1 IN ('thumbs', 'rating'), 'thumbs_down', told.1) AS kind,
            max(ifNull(told.2 < 0.5, 1)) AS is_bad
        FROM
        (
            SELECT trace_id, record_id, arrayJoin(arrayZip(`feedback.kind`, `feedback.value`)) AS told
            FROM records FINAL
            WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND notEmpty(`feedback.kind`)
            UNION ALL
            SELECT trace_id, record_id, said.told AS told
            FROM records FINAL
            INNER JOIN
            (
                SELECT trace_id, (kind, value) AS told
                FROM feedback FINAL
                WHERE received >= toDateTime({since:UInt32}, 'UTC')
                    AND trace_id != '' AND span_id = '' AND response_id = ''
            ) AS said ON said.trace_id = records.trace_id
            WHERE minute >= toDateTime({since:UInt32}, 'UTC')
            UNION ALL
            SELECT names.trace_id, names.record_id, said.told AS told
            FROM
            (
                SELECT
                    trace_id, record_id,
                    arrayJoin(arrayDistinct(arrayConcat(response_ids, span_ids, [record_id]))) AS named
                FROM records FINAL
                WHERE minute >= toDateTime({since:UInt32}, 'UTC')
            ) AS names
            INNER JOIN
            (
                SELECT if(response_id != '', response_id, span_id) AS named, (kind, value) AS told
                FROM feedback FINAL
                WHERE received >= toDateTime({since:UInt32}, 'UTC')
                    AND (response_id != '' OR span_id != '')
            ) AS said ON said.named = names.named
        )
        WHERE told.2 IS NOT NULL OR told.1 NOT IN ('thumbs', 'rating')
        GROUP BY trace_id, record_id, kind
    )
    GROUP BY trace_id, record_id
)
