CREATE TABLE IF NOT EXISTS migrations {on_cluster}
(
    number UInt32,
    name String,
    checksum String,
    applied DateTime64(9, 'UTC')
)
ENGINE = {replicated}ReplacingMergeTree(applied)
ORDER BY number
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
