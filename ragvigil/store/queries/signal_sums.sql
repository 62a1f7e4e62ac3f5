-- Sums of the signals by bins of time, added up over all replicas.
SELECT
    cityHash64(service, environment, route, signal, segment) AS series,
    service, environment, route, signal, segment,
    intDiv(toUnixTimestamp(minute), {bin:UInt32}) * {bin:UInt32} AS start,
    sum(counted) AS n, sum(summed) AS total, sum(squared) AS squares
FROM signal_minutes FINAL
ARRAY JOIN
    `sums.signal` AS signal, `sums.segment` AS segment, `sums.n` AS counted,
    `sums.total` AS summed, `sums.squares` AS squared
WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
    AND (empty({minutes:Array(UInt32)}) OR toUnixTimestamp(minute) IN {minutes:Array(UInt32)})
GROUP BY service, environment, route, signal, segment, start
