-- The verdict on an incident: the likely layers and the evidence, in JSON; empty before this column.
ALTER TABLE incidents {on_cluster}
    ADD COLUMN IF NOT EXISTS verdict String CODEC(ZSTD(3)) AFTER cause;
