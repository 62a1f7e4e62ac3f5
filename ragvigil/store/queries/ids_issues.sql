-- The first ids of issues that begin with a text, in order.
SELECT DISTINCT issue_id AS id
FROM issues
WHERE startsWith(issue_id, {prefix:String})
ORDER BY id
LIMIT {limit:UInt32}
