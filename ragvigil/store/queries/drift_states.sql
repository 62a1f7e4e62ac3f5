-- The state of every series that was followed since a time (seconds).
SELECT service, environment, route, rubric, toString(layer) AS layer, segment, kind, numbers
FROM drift_states FINAL
WHERE written >= toDateTime({since:UInt32}, 'UTC')
ORDER BY service, environment, rubric, layer, segment, route
