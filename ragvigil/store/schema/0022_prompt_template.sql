-- The sentences of the system prompt by their hashes: a change of the prompt is a change of these.
ALTER TABLE records {on_cluster}
    ADD COLUMN IF NOT EXISTS prompt_template Array(UInt32) CODEC(ZSTD(1)) AFTER slice;
