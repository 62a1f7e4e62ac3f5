-- Spans that vanished from the spool before they were stored.
ALTER TABLE ledger {on_cluster}
    ADD COLUMN IF NOT EXISTS lost UInt32 CODEC(ZSTD(1)) AFTER quarantined;
