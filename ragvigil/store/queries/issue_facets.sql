-- The rubrics that members of issues fail, the commonest first; a member may fail several.
SELECT rubric, count() AS members
FROM
(
    SELECT arrayJoin(arrayDistinct(rubrics)) AS rubric
    FROM failures FINAL
    WHERE (trace_id, record_id) IN
    (
        SELECT trace_id, record_id FROM memberships FINAL WHERE issue_id IN {issues:Array(String)}
    )
)
GROUP BY rubric
ORDER BY members DESC, rubric
