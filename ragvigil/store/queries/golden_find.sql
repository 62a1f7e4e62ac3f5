-- The newest revision of every golden case that matches, newest first.
SELECT body
FROM (
    SELECT * FROM golden_cases FINAL
    WHERE {case_id:String} = '' OR case_id = {case_id:String}
    ORDER BY case_id, revision DESC
    LIMIT 1 BY case_id
)
WHERE ({state:String} = '' OR state = {state:String})
    AND ({service:String} = '' OR service = {service:String})
    AND ({query_type:String} = '' OR query_type = {query_type:String})
    AND ({issue_id:String} = '' OR issue_id = {issue_id:String})
ORDER BY written DESC, case_id
LIMIT {limit:UInt32}
