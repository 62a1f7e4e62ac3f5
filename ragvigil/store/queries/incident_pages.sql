-- Incidents that paged since a time: all, those that a person judged, and false pages.
SELECT
    count() AS pages,
    countIf(is_false_page OR is_expected OR incident_id IN (
        SELECT incident_id FROM incident_events WHERE verb IN ('resolve', 'expected', 'false_page')
    )) AS judged,
    countIf(is_false_page = 1) AS false_pages
FROM incidents FINAL
WHERE toUnixTimestamp64Nano(paged) > 0 AND paged >= toDateTime64({since:UInt32}, 9, 'UTC')
