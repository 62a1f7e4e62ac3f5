-- Pairs of issues that look alike, the most alike first.
SELECT *
FROM issue_pairs FINAL
WHERE ({verdict:String} = '' OR verdict = {verdict:String})
    AND ({issue_id:String} = '' OR kept = {issue_id:String} OR merged = {issue_id:String})
ORDER BY likeness DESC, kept, merged
