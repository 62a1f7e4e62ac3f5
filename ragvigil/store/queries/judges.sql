-- Judges at work since a time; rows that were replaced meanwhile tell the same.
SELECT DISTINCT rubric, segment, scorer, version
FROM scores
WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND kind = 'judge'
ORDER BY rubric, segment
