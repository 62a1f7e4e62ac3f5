-- Records with the same origin that lack the same fields, counted.
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
