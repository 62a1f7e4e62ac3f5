-- Records with the same origin that lack the same fields, counted. Only an answer with a span of a
-- model has a time of generation.
SELECT
    service,
    instrumentors,
    latency_generation IS NOT NULL AS has_llm_span,
    CAST(absent, 'Array(Tuple(String, String))') AS lacks,
    truncated,
    count() AS records
FROM records FINAL
WHERE minute >= toDateTime({since:UInt32}, 'UTC')
GROUP BY service, instrumentors, has_llm_span, lacks, truncated
ORDER BY service, instrumentors, has_llm_span, lacks, truncated
