-- Parts that are in no answer, because they are damaged.
SELECT table, count() AS parts
FROM system.detached_parts
WHERE database = 'ragvigil'
GROUP BY table
ORDER BY table
