-- Three users of a ClickHouse server, each with what it needs. Replace the passwords, then, as an admin:
--   clickhouse-client --multiquery < deploy/clickhouse/users.sql
-- On a cluster add ON CLUSTER to each statement, and take the comment off the two grants of CLUSTER.
CREATE DATABASE IF NOT EXISTS ragvigil;

-- Makes and changes the tables: `ragvigil migrate` with its [store] url, before a new version starts.
CREATE USER IF NOT EXISTS ragvigil_migrator IDENTIFIED WITH sha256_password BY 'CHANGE-ME-1';
GRANT CREATE TABLE, CREATE VIEW, DROP TABLE, DROP VIEW, ALTER, SELECT, INSERT ON ragvigil.* TO ragvigil_migrator;
-- GRANT CLUSTER ON *.* TO ragvigil_migrator;

-- The daemon's: writes rows, erases them, sets how long they are kept. It can drop no table.
CREATE USER IF NOT EXISTS ragvigil_writer IDENTIFIED WITH sha256_password BY 'CHANGE-ME-2';
GRANT SELECT, INSERT, ALTER DELETE, ALTER UPDATE, ALTER TTL ON ragvigil.* TO ragvigil_writer;
GRANT SELECT ON system.tables, SELECT ON system.columns, SELECT ON system.parts, SELECT ON system.mutations TO ragvigil_writer;
-- What a leader writes is checked against its lease by INSERT ... SELECT ... FROM input(), for which
-- servers before 26.5 ask for this.
GRANT CREATE TEMPORARY TABLE ON *.* TO ragvigil_writer;
-- GRANT CLUSTER ON *.* TO ragvigil_writer;

-- For people and dashboards: reads, within limits.
CREATE USER IF NOT EXISTS ragvigil_reader IDENTIFIED WITH sha256_password BY 'CHANGE-ME-3'
    SETTINGS readonly = 1, max_execution_time = 60, max_memory_usage = 2000000000;
GRANT SELECT ON ragvigil.* TO ragvigil_reader;
