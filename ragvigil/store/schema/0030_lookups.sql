-- Whether a finding is a sustained drop of a local model's scores.
ALTER TABLE findings {on_cluster}
    ADD COLUMN IF NOT EXISTS is_local UInt8 CODEC(ZSTD(1)) AFTER words;

-- Finds the trace of a record by the record's id. Older parts get the index when they are merged.
ALTER TABLE traces {on_cluster}
    ADD INDEX IF NOT EXISTS idx_record record_ids TYPE bloom_filter(0.01) GRANULARITY 16;

-- Finds the answers to a question; case, and signs at both ends, make no other question. Older parts
-- have no index: there it is computed from `query` as it is read.
ALTER TABLE records {on_cluster}
    ADD COLUMN IF NOT EXISTS question UInt64 MATERIALIZED cityHash64(trimBoth(lowerUTF8(ifNull(query, '')), ' \t\r\n.?!…¿¡。？！؟\'"“”„«»')) CODEC(ZSTD(1)),
    ADD INDEX IF NOT EXISTS idx_question question TYPE bloom_filter(0.01) GRANULARITY 4;
