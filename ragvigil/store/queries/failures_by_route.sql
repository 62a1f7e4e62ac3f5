-- Records of each route since a time, and those of them that fail outside of every issue, by family.
SELECT service, environment, route, family, sum(failing) AS failing, max(requests) AS requests
FROM
(
    SELECT service, environment, route, family, count() AS failing, 0 AS requests
    FROM failures FINAL
    WHERE failures.minute >= toDateTime({since:UInt32}, 'UTC')
        AND (trace_id, record_id) NOT IN (SELECT trace_id, record_id FROM memberships FINAL)
    GROUP BY service, environment, route, family
    UNION ALL
    SELECT
        service, environment, route,
        arrayJoin(['retrieval', 'generation', 'cross_cutting']) AS family,
        0 AS failing, count() AS requests
    FROM records FINAL
    WHERE records.minute >= toDateTime({since:UInt32}, 'UTC')
    GROUP BY service, environment, route
)
GROUP BY service, environment, route, family
ORDER BY failing DESC, service, environment, route, family
