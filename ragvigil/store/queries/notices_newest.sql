-- The newest changes of every route.
SELECT *
FROM notices FINAL
ORDER BY since DESC, notice_id
LIMIT {each:UInt32} BY service, environment, route
