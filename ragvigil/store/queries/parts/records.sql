SELECT
    minute, received, time, trace_id, record_id, service, environment, route, llm_model,
    prompt_version, query
FROM records FINAL
WHERE minute >= toDateTime({since:UInt32}, 'UTC')
    AND minute <= toDateTime({latest:UInt32}, 'UTC')
    AND time < toDateTime64({until:UInt32}, 9, 'UTC')
    AND ({service:String} = '' OR service = {service:String})
    AND ({environment:String} = '' OR environment = {environment:String})
    AND ({route:String} = '' OR route = {route:String})
    AND ({model:String} = '' OR llm_model = {model:String})
    AND ({prompt_version:String} = '' OR prompt_version = {prompt_version:String})
    AND (empty({needles:Array(String)}) OR NOT has(multiSearchAllPositions(words, {needles:Array(String)}), 0))
    AND
    (
        empty({issue_ids:Array(String)})
        OR (minute, trace_id, record_id) IN
        (
            SELECT minute, trace_id, record_id FROM memberships FINAL
            WHERE issue_id IN {issue_ids:Array(String)}
                AND minute >= toDateTime({since:UInt32}, 'UTC')
        )
    )
    AND
    (
        {said:String} = ''
        OR (minute, trace_id, record_id) IN
        (
            SELECT minute, trace_id, record_id FROM ratings
            WHERE minute >= toDateTime({said_since:UInt32}, 'UTC')
                AND minute <= toDateTime({latest:UInt32}, 'UTC')
                AND if({said:String} = 'down', worst < 0.5, worst >= 0.5)
        )
    )
    AND
    (
        {topic:String} = ''
        OR (minute, trace_id, record_id) IN
        (
            @topic_members
        )
    )
