-- Where scores lie that meet all conditions, the lowest first, after those of an earlier page. Without
-- FINAL: rows may have been replaced, so `record_keys_by_score` reads these traces again.
SELECT
    toUnixTimestamp(minute) AS minute_seconds,
    trace_id,
    if({by_score:UInt8} = 1, ifNull(value, 2.), 0.) AS place,
    toUnixTimestamp64Nano(time) AS time_nanos
FROM scores
@score_conditions
    AND (place, -time_nanos) >= ({after_place:Float64}, -{after_nanos:Int64})
ORDER BY place, time DESC
LIMIT {most:UInt32}
