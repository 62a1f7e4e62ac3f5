-- Traces whose answer, or one of whose spans, names this user or session.
SELECT trace_id FROM records
WHERE received <= toDateTime({until:UInt32}, 'UTC')
    AND if({kind:String} = 'user', user_id, session_id) = {id:String}
UNION DISTINCT
SELECT TraceId FROM spans
WHERE Received <= toDateTime({until:UInt32}, 'UTC')
    AND arrayExists(
        (name, value) -> value = {id:String} AND match(name, {pattern:String}),
        mapKeys(SpanAttributes), mapValues(SpanAttributes)
    )
