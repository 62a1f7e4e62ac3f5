-- Sums of judged answers and of cheap scores (an empty segment) by five minutes. A column each: arrays
-- of arrays take five times as long to read.
SELECT
    cityHash64(service, environment, route, rubric, layer, segment) AS series,
    toUnixTimestamp(judged_sums.start) AS begins,
    sums[1] AS s1, sums[2] AS s2, sums[3] AS s3, sums[4] AS s4, sums[5] AS s5, sums[6] AS s6,
    sums[7] AS s7, sums[8] AS s8, sums[9] AS s9, sums[10] AS s10, sums[11] AS s11, sums[12] AS s12,
    sums[13] AS s13, sums[14] AS s14, sums[15] AS s15, sums[16] AS s16, sums[17] AS s17, sums[18] AS s18,
    sums[19] AS s19, sums[20] AS s20, sums[21] AS s21, sums[22] AS s22, sums[23] AS s23, sums[24] AS s24
FROM judged_sums FINAL
WHERE start >= toDateTime({first:UInt32}, 'UTC') AND start < toDateTime({end:UInt32}, 'UTC')
ORDER BY series, begins
