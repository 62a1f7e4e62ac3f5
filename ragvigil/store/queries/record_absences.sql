-- Records that are alike in where they come from and in what they lack, counted.
SELECT
    service,
    instrumentors,
    CAST(absent, 'Array(Tuple(String, String))') AS lacks,
    truncated,
    count() AS records
FROM records FINAL
WHERE minute >= toDateTime({since:UInt32}, 'UTC')
GROUP BY service, instrumentors, lacks, truncated
ORDER BY service, instrumentors, lacks, truncated
