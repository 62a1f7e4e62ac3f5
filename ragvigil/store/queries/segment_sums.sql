-- Sums of these rubrics over the uniform sample since a time, from the roll-ups.
SELECT
    rubric, segment, sum(rollups.n) AS n, sum(rollups.total) AS total,
    sum(rollups.squares) AS squares, sum(rollups.failed) AS failed
FROM rollups FINAL
WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND rubric IN {rubrics:Array(String)}
GROUP BY rubric, segment
