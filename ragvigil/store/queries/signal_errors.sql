-- The share of records with an error, by bins of time.
SELECT
    cityHash64(service, environment, route, signal, segment) AS series,
    service, environment, route, signal, segment,
    intDiv(toUnixTimestamp(minute), {bin:UInt32}) * {bin:UInt32} AS start,
    sum(counted.n) AS n, sum(counted.total) AS total, sum(counted.squares) AS squares
FROM
(
    @signal_errors
) AS counted
GROUP BY service, environment, route, signal, segment, start
