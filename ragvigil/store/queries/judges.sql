-- Judges at work since a time. Without FINAL: replaced rows name the same judges.
SELECT DISTINCT rubric, segment, scorer, version
FROM scores
WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND kind = 'judge'
ORDER BY rubric, segment
