-- Context tokens and dollars since a time, by route; dollars only of records with a price and tokens.
SELECT
    service, environment, route,
    sum(measures['context_tokens']) AS context_tokens,
    sumIf(
        measures['cost_usd'] * least(1, measures['context_tokens'] / measures['input_tokens']),
        mapContains(measures, 'cost_usd') AND measures['input_tokens'] > 0
    ) AS context_usd,
    countIf(mapContains(measures, 'cost_usd') AND measures['input_tokens'] > 0) AS priced
FROM record_shapes FINAL
WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND mapContains(measures, 'context_tokens')
GROUP BY service, environment, route
