-- Whether a finding rests on a judge that is retired: such a finding pages nobody.
ALTER TABLE findings {on_cluster}
    ADD COLUMN IF NOT EXISTS is_untrusted UInt8 CODEC(ZSTD(1)) AFTER words;
