-- The incident whose answers an issue holds; empty for issues that were found without one.
ALTER TABLE issues {on_cluster}
    ADD COLUMN IF NOT EXISTS incident_id String CODEC(ZSTD(1)) AFTER merged_into;
