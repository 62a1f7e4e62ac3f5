-- The newest version that a replica has written.
SELECT max(kept.version) AS version
FROM {table:Identifier} AS kept
WHERE replica = {replica:String}
