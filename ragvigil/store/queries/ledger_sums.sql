-- Sums over all frames of one replica.
SELECT
    count() AS frames,
    sum(ledger.spans) AS spans,
    sum(ledger.stored) AS stored,
    sum(ledger.duplicate) AS duplicate,
    sum(ledger.quarantined) AS quarantined,
    sum(ledger.lost) AS lost,
    sum(ledger.not_kept) AS not_kept
FROM ledger FINAL
WHERE replica = {replica:String}
