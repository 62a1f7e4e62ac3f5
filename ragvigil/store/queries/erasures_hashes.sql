-- What must not be written again: hashes of traces, and of users and sessions until a time.
SELECT kind, subject, toUnixTimestamp(asked) AS until, traces
FROM erasures FINAL
