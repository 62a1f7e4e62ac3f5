-- The members of the newest set.
SELECT set_id, kind, record, toUnixTimestamp64Nano(chosen) AS chosen_nanos
FROM canary_members FINAL
WHERE set_id = (SELECT argMax(set_id, (chosen, set_id)) FROM canary_members)
ORDER BY trace_id, record_id
