-- When a service was first seen with each of its releases and index versions.
SELECT
    version.1 AS kind, version.2 AS name,
    toUnixTimestamp64Nano(min(time)) AS first_nanos
FROM
(
    SELECT
        records.time AS time,
        arrayJoin([
            ('service_version', toString(service_version)),
            ('index_epoch', toString(index_epoch))
        ]) AS version
    FROM records
    WHERE service = {service:String} AND environment = {environment:String}
        AND records.minute >= toDateTime({since:UInt32}, 'UTC')
)
WHERE version.2 != ''
GROUP BY kind, name
ORDER BY kind, first_nanos
