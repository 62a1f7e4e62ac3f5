-- Erasures, the newest first.
SELECT *
FROM erasures FINAL
WHERE {erasure_id:String} = '' OR erasure_id = {erasure_id:String}
ORDER BY asked DESC, erasure_id
LIMIT {limit:UInt32}
