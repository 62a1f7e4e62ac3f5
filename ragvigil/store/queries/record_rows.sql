-- The newest generation of these records. Traces of one minute lie together, so that minutes and
-- trace ids are a prefix of the key; the day of `received` is the partition. Columns of the
-- key alone are asked before FINAL: all generations of a row agree in them.
SELECT
    *,
    toUnixTimestamp(minute) AS minute_seconds,
    toUnixTimestamp(received) AS received_seconds,
    toUnixTimestamp64Nano(time) AS time_nanos,
    toUnixTimestamp64Nano(started) AS started_nanos,
    toUnixTimestamp64Nano(ended) AS ended_nanos
@placed_records
