-- Answers that an issue harms per day, estimated; NULL until counted.
ALTER TABLE issues {on_cluster}
    ADD COLUMN IF NOT EXISTS harmed_per_day Nullable(Float64) CODEC(ZSTD(1)) AFTER merged_into;
