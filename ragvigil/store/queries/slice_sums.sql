-- The sums of a range by hour, an array a slice and rubric.
SELECT
    service, environment, dimension, value, rubric, layer, segment,
    groupArray(toUnixTimestamp(start)) AS starts, groupArray(slice_sums.n) AS n, groupArray(slice_sums.total) AS total,
    groupArray(slice_sums.squares) AS squares, groupArray(slice_sums.failed) AS failed
FROM slice_sums FINAL
WHERE start >= toDateTime({first:UInt32}, 'UTC') AND start < toDateTime({end:UInt32}, 'UTC')
    AND slice_sums.n > 0
    AND ({service:String} = '' OR service = {service:String})
GROUP BY service, environment, dimension, value, rubric, layer, segment
ORDER BY service, environment, dimension, value, rubric, segment
