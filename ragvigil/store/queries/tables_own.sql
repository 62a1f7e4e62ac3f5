-- Tables that hold rows of their own, views left out.
SELECT name FROM system.tables
WHERE database = currentDatabase() AND endsWith(engine, 'MergeTree')
ORDER BY name
