-- Rows of a table, replaced ones included, with one of these values in a column.
SELECT count() AS rows
FROM {table:Identifier}
WHERE cityHash64({column:Identifier}) IN {hashes:Array(UInt64)}
