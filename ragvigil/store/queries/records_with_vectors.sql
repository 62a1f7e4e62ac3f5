-- How many of the records that match have a question, and how many have a vector of it.
SELECT
    count() AS answers,
    countIf((minute, trace_id, record_id) IN
    (
        SELECT minute, trace_id, record_id FROM
        (
            @vectors
        )
    )) AS with_vector
FROM
(
    @chosen
)
WHERE notEmpty(ifNull(query, ''))
