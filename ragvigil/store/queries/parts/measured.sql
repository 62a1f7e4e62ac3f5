-- Measures of these minutes' records that lie beyond what was usual before an incident on their route.
SELECT
    minute, trace_id, record_id, generation, beyond.4 AS measure, beyond.5 AS label,
    measures[beyond.4] AS value
FROM record_shapes FINAL
ARRAY JOIN arrayFilter(
    own -> own.1 = service AND own.2 = environment AND own.3 IN ('*', route)
        AND mapContains(measures, own.4)
        AND (measures[own.4] < own.6 OR measures[own.4] > own.7)
        AND toUnixTimestamp(minute) >= own.8 AND toUnixTimestamp(minute) <= own.9,
    arrayZip(
        {measure_services:Array(String)}, {measure_environments:Array(String)},
        {measure_routes:Array(String)}, {measure_rubrics:Array(String)},
        {measure_labels:Array(String)}, {measure_belows:Array(Float64)},
        {measure_aboves:Array(Float64)}, {measure_firsts:Array(UInt32)},
        {measure_lasts:Array(UInt32)}
    )
) AS beyond
WHERE minute IN {minutes:Array(DateTime('UTC'))} AND notEmpty({measure_rubrics:Array(String)})
