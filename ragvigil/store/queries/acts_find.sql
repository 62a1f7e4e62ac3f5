-- Acts that match and are older than a given one, the newest first.
SELECT *
FROM acts FINAL
WHERE toUnixTimestamp64Nano(time) >= {since:Int64} * 1000000000
    AND (toUnixTimestamp64Nano(time), act_id) < ({before:Int64}, {before_id:String})
    AND ({person:String} = '' OR person = {person:String})
    AND ({verb:String} = '' OR verb = {verb:String})
    AND startsWith(thing, {thing:String})
ORDER BY time DESC, act_id DESC
LIMIT {limit:UInt32}
