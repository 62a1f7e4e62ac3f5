-- Quotes of judges since a time, and those that were not found. Without FINAL: a share of both.
SELECT
    rubric, segment, sum(JSONExtractUInt(details, 'quotes')) AS quotes,
    sum(JSONExtractUInt(details, 'downgraded')) AS not_found
FROM scores
WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND kind = 'judge'
GROUP BY rubric, segment
