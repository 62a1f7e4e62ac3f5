-- Of these scores of a rubric the records that pass: they have a value that does not fail, or of a rubric
-- that labels only (refusals) a label, and none of the issue's own labels.
GROUP BY trace_id, record_id
HAVING
    countIf(if(value IS NULL, kind = 'code' AND label != '', failed = 0)) > 0
    AND NOT hasAny(
        arrayMap(part -> trimBoth(part), splitByChar(',', arrayStringConcat(groupArray(toString(label)), ','))),
        {labels:Array(String)}
    )
