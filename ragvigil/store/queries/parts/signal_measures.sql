-- Measures of records. Those in `logged` by their logarithm, so that a few long requests do not
-- outweigh all others; without repeats of a question. The share of requests slower than a ceiling is
-- a rate of its own, over all requests.
SELECT
    minute, service, environment, route, one.1 AS signal, '' AS segment,
    toFloat64(count()) AS n, sum(one.2) AS total, sum(one.2 * one.2) AS squares
FROM
(
    SELECT
        minute, service, environment, route,
        indexOf({slow_routes:Array(String)}, concat(service, if(startsWith(route, '/'), '', '/'), route)) AS own,
        indexOf({slow_routes:Array(String)}, toString(route)) AS shared,
        multiIf(
            own > 0, {slow_seconds:Array(Float64)}[own],
            shared > 0, {slow_seconds:Array(Float64)}[shared],
            {slow:Float64}
        ) AS ceiling,
        (minute, trace_id, record_id) IN
        (
            @repeats
        ) AS is_repeat,
        arrayJoin(arrayConcat(
            if(is_repeat, [], arrayMap(
                name -> (name, if(has({logged:Array(String)}, name), log(measures[name]), measures[name])),
                arrayFilter(
                    name -> mapContains(measures, name)
                        AND (measures[name] > 0 OR NOT has({logged:Array(String)}, name)),
                    {measures:Array(String)}
                )
            )),
            if(
                mapContains(measures, 'seconds_total'),
                [('seconds_total:slow', toFloat64(measures['seconds_total'] > ceiling))],
                []
            )
        )) AS one
    FROM record_shapes FINAL
    WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
        AND (empty({minutes:Array(UInt32)}) OR toUnixTimestamp(minute) IN {minutes:Array(UInt32)})
)
WHERE isFinite(one.2)
GROUP BY minute, service, environment, route, signal
