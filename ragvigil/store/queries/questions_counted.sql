-- How many questions of the sample have vectors, by service.
SELECT service, environment, count() AS questions
FROM questions FINAL
WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND is_sampled
    AND vector_model = {vector_model:String}
GROUP BY service, environment
ORDER BY service, environment
