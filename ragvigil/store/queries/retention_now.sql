SELECT name AS table, toUInt32OrZero(extract(create_table_query, 'toIntervalDay\\((\\d+)\\)')) AS days
FROM system.tables
WHERE database = currentDatabase()
