-- Sums of these rubrics since a time, by route, from the roll-ups: of local models where they
-- score the rubric, since they look by meaning where code compares words.
SELECT
    service, environment, route, rubric,
    if(sumIf(rollups.n, kind = 'model') > 0, sumIf(rollups.n, kind = 'model'), sum(rollups.n)) AS n,
    if(sumIf(rollups.n, kind = 'model') > 0, sumIf(rollups.total, kind = 'model'), sum(rollups.total)) AS total,
    if(sumIf(rollups.n, kind = 'model') > 0, sumIf(rollups.squares, kind = 'model'), sum(rollups.squares)) AS squares
FROM rollups FINAL
WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND rubric IN {rubrics:Array(String)}
GROUP BY service, environment, route, rubric
HAVING n > 0
ORDER BY service, environment, route, rubric
