-- How many issues are new and not merged into another, with enough answers to be news or of an incident,
-- and how many golden cases are proposed.
SELECT
    (
        SELECT count() FROM issues FINAL
        WHERE merged_into = '' AND state = 'new'
            AND (members >= {least_told:UInt32} OR incident_id != '')
    ) AS new_issues,
    (
        SELECT countIf(state = 'proposed')
        FROM
        (
            SELECT state FROM golden_cases FINAL ORDER BY case_id, revision DESC LIMIT 1 BY case_id
        )
    ) AS proposed_cases
