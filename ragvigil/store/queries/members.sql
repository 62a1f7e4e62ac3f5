-- Every daemon of a fleet as of its last beat, with the seconds since.
SELECT
    replica, roles, address, acknowledged, in_spool, mismatch, behind, epoch,
    dateDiff('millisecond', beat, now64(3)) / 1000 AS age_seconds
FROM members FINAL
ORDER BY replica
