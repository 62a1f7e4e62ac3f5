-- Stored members of each issue.
SELECT issue_id, count() AS members FROM memberships FINAL GROUP BY issue_id
