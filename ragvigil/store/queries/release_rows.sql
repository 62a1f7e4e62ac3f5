-- Answers since a time by version of their service and slice, a share of them by the hash of the trace.
-- Scores are of the uniform sample; latencies are a random part, to find their percentile in.
WITH answers AS
(
    SELECT
        records.trace_id AS trace_id, records.record_id AS record_id, service, environment,
        toString(service_version) AS release, toUnixTimestamp(minute) AS seconds,
        latency_total, cost_usd,
        arrayPushBack(
@slices_of
        , ('', '')) AS parts
    FROM records FINAL
    LEFT JOIN
    (
@answer_topics
    ) AS placed ON placed.trace_id = records.trace_id AND placed.record_id = records.record_id
    WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
        AND ({service:String} = '' OR service = {service:String})
        AND cityHash64(records.trace_id) % 1000000 < {per_million:UInt32}
)
SELECT
    service, environment, release, part.1 AS dimension, part.2 AS value, min(seconds) AS first_seen,
    max(seconds) AS last_seen, count() AS answers,
    groupArraySampleIf({latencies:UInt32}, 1)(
        assumeNotNull(latency_total), latency_total IS NOT NULL
    ) AS latency,
    count(cost_usd) AS cost_n, sum(ifNull(cost_usd, 0)) AS cost_total,
    sum(ifNull(cost_usd * cost_usd, 0)) AS cost_squares,
    countIf(refusal != '') AS refusal_n, countIf(refusal = 'refused') AS refused,
    arrayMap(
        sums -> (sums.1, sums.2, sums.3),
        [
            (count(grounded), sum(ifNull(grounded, 0)), sum(ifNull(grounded * grounded, 0))),
            (count(relevant), sum(ifNull(relevant, 0)), sum(ifNull(relevant * relevant, 0))),
            (count(recalled), sum(ifNull(recalled, 0)), sum(ifNull(recalled * recalled, 0)))
        ]
    ) AS scores
FROM (SELECT *, arrayJoin(parts) AS part FROM answers) AS named
LEFT JOIN
(
    SELECT
        trace_id, record_id, anyIf(toString(label), rubric = 'refusal') AS refusal,
        avgIf(value, rubric = 'groundedness') AS grounded,
        avgIf(value, rubric = 'answer_relevance') AS relevant,
        avgIf(value, rubric = 'context_recall') AS recalled
    FROM scores FINAL
    WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
        AND stream = 'base'
        AND rubric IN ('refusal', 'groundedness', 'answer_relevance', 'context_recall')
        AND cityHash64(trace_id) % 1000000 < {per_million:UInt32}
    GROUP BY trace_id, record_id
) AS scored ON scored.trace_id = named.trace_id AND scored.record_id = named.record_id
GROUP BY service, environment, release, part
ORDER BY service, environment, release, dimension, answers DESC, value
LIMIT {most:UInt32} BY service, environment, release, dimension
