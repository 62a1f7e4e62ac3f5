-- Columns that an INSERT may name, in the order of the tables.
SELECT table, name, type
FROM system.columns
WHERE database = currentDatabase() AND default_kind NOT IN ('MATERIALIZED', 'ALIAS')
ORDER BY table, position
