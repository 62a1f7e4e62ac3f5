-- Routes that are judged more at a time (nanoseconds).
SELECT service, environment, route, rate, until
FROM sampling_overrides FINAL
WHERE until > fromUnixTimestamp64Nano({now:Int64}, 'UTC')
ORDER BY service, environment, route
