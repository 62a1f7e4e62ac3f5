-- Between which times a finding began, at 95 %: answers that come late date it late. 0 in older rows
-- and where the onset is known.
ALTER TABLE findings {on_cluster}
    ADD COLUMN IF NOT EXISTS earliest DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)) AFTER since,
    ADD COLUMN IF NOT EXISTS latest DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)) AFTER earliest;
