-- Traces of which a daemon told since a time, once for each who told; those of other owners are left
-- out, as far as these live.
SELECT
    trace_id, owner, replica, max(late_spans.spans) AS spans,
    toUnixTimestamp64Milli(max(late_spans.written)) / 1000 AS written
FROM late_spans
WHERE late_spans.written >= fromUnixTimestamp64Milli(toInt64({since:Float64} * 1000))
    AND owner NOT IN {others:Array(String)}
GROUP BY trace_id, owner, replica
ORDER BY written, trace_id, replica
LIMIT {limit:UInt32}
