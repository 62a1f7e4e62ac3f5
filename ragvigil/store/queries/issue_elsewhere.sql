-- Records of a service that are not members of these issues, by route and versions. Imported answers
-- do not count.
SELECT route, service_version, prompt_version, index_epoch, llm_model, count() AS answers
FROM records FINAL
WHERE minute >= toDateTime({since:UInt32}, 'UTC')
    AND service = {service:String} AND environment = {environment:String} AND backfill = ''
    AND (trace_id, record_id) NOT IN
    (
        SELECT trace_id, record_id FROM memberships FINAL
        WHERE issue_id IN {issues:Array(String)} AND minute >= toDateTime({since:UInt32}, 'UTC')
    )
GROUP BY route, service_version, prompt_version, index_epoch, llm_model
