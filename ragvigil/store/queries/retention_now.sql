-- The days of each table's time to live, read off its DDL; 0 without one.
SELECT name AS table, toUInt32OrZero(extract(create_table_query, 'toIntervalDay\\((\\d+)\\)')) AS days
FROM system.tables
WHERE database = currentDatabase()
