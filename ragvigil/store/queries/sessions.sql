-- Sessions that had an answer since a time and none after another, a share of them by their hash: their
-- answers in order, and what users said of each answer and of the session.
SELECT
    turns.service AS service, turns.environment AS environment, turns.session_id AS session_id,
    turns.turns AS turns, told.kinds AS session_kinds, told.bad AS session_bad
FROM
(
    SELECT
        service, environment, session_id, max(seconds) AS last_seen,
        arraySort(groupArray((nanos, trace_id, record_id, question, is_unanswered, kinds, bad))) AS turns
    FROM
    (
        SELECT
            service, environment, session_id, toUnixTimestamp(minute) AS seconds,
            toUnixTimestamp64Nano(started) AS nanos, records.trace_id AS trace_id,
            records.record_id AS record_id, ifNull(query, '') AS question,
            toUInt8(error IS NOT NULL OR labels.label = 'refused') AS is_unanswered,
            said.kinds AS kinds, said.bad AS bad
        FROM records FINAL
        LEFT JOIN
        (
            SELECT trace_id, record_id, any(toString(scores.label)) AS label
            FROM scores FINAL
            WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND rubric = 'refusal' AND stream = 'base'
            GROUP BY trace_id, record_id
        ) AS labels ON labels.trace_id = records.trace_id AND labels.record_id = records.record_id
        LEFT JOIN
@told_answers
        AS said ON said.trace_id = records.trace_id AND said.record_id = records.record_id
        WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND session_id != ''
            AND ({service:String} = '' OR service = {service:String})
            AND cityHash64(session_id) % 1000000 < {per_million:UInt32}
    )
    GROUP BY service, environment, session_id
    HAVING last_seen < {ended:UInt32}
) AS turns
LEFT JOIN
(
    SELECT
        session_id, groupArray(toString(kind)) AS kinds,
        groupArray(toUInt8(ifNull(value < 0.5, 1))) AS bad
    FROM feedback FINAL
    WHERE received >= toDateTime({since:UInt32}, 'UTC')
        AND session_id != '' AND trace_id = '' AND span_id = '' AND response_id = ''
        AND (value IS NOT NULL OR kind NOT IN ('thumbs', 'rating'))
    GROUP BY session_id
) AS told ON told.session_id = turns.session_id
ORDER BY service, environment, cityHash64(session_id)
