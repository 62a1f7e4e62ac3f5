-- What a record fails by: a grade under its rubric's bar, or what an incident on its route shows: a
-- label that became frequent, or a value of a local model or of code under what was usual before.
-- What is low by chunks that did not reach the prompt says nothing against the answer.
position(concat(',', label, ','), ',outside_prompt,') = 0
AND
(
    (
        kind != 'model' AND stream IN ('base', 'boost', 'suspicious')
        AND value < transform(toString(rubric), {rubrics:Array(String)}, {bars:Array(Float64)}, 0.)
    )
    OR
    (
        stream NOT IN ('audit', 'canary')
        AND arrayExists(
            (own_service, own_environment, own_route, own_rubric, own_label, below, first, last) ->
                own_rubric = rubric AND own_service = service AND own_environment = environment
                AND own_route IN ('*', route)
                AND toUnixTimestamp(minute) >= first AND toUnixTimestamp(minute) <= last
                AND if(
                    own_label = '',
                    kind IN ('model', 'code') AND ifNull(value, 1) < below,
                    has(arrayMap(part -> trimBoth(part), splitByChar(',', toString(label))), own_label)
                ),
            {spike_services:Array(String)}, {spike_environments:Array(String)},
            {spike_routes:Array(String)}, {spike_rubrics:Array(String)}, {spike_labels:Array(String)},
            {spike_belows:Array(Float64)}, {spike_firsts:Array(UInt32)}, {spike_lasts:Array(UInt32)}
        )
    )
)
