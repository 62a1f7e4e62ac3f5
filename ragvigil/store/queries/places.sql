-- Services, environments and routes with answers, the busiest first. Counts may hold an answer
-- twice until parts are merged: they order, they are not shown.
SELECT service, environment, route
FROM records
WHERE minute >= toDateTime({since:UInt32}, 'UTC')
GROUP BY service, environment, route
ORDER BY count() DESC, service, environment, route
LIMIT {limit:UInt32}
