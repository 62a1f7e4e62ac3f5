-- Roll-ups of a window: of the scores that enter means, and of local ones beside a judge's.
SELECT
    minute, service, environment, route, rubric, layer, segment, kind, n, total, squares, failed,
    absent, not_applicable, labels
FROM rollups FINAL
WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
UNION ALL
SELECT
    minute, service, environment, route, rubric, layer, segment, kind, n, total, squares, failed,
    absent, not_applicable, labels
FROM proxy_rollups FINAL
WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
