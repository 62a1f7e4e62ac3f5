-- Spans that the setting `store.spans` leaves out: counted, never silent.
ALTER TABLE ledger {on_cluster}
    ADD COLUMN IF NOT EXISTS not_kept UInt32 CODEC(ZSTD(1)) AFTER lost;

-- How many of a trace's spans are in the table `spans`. Older rows kept them all.
ALTER TABLE traces {on_cluster}
    ADD COLUMN IF NOT EXISTS kept UInt32 DEFAULT spans CODEC(ZSTD(1)) AFTER spans;
