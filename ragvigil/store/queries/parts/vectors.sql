SELECT minute, trace_id, record_id, vector AS question_vector
FROM questions
WHERE minute >= toDateTime({since:UInt32}, 'UTC')
    AND minute <= toDateTime({until:UInt32}, 'UTC')
    AND vector_model = {vector_model:String}
    AND ({service:String} = '' OR service = {service:String})
    AND ({environment:String} = '' OR environment = {environment:String})
UNION ALL
SELECT minute, trace_id, record_id, question_vector
FROM failures
WHERE minute >= toDateTime({since:UInt32}, 'UTC')
    AND minute <= toDateTime({until:UInt32}, 'UTC')
    AND vector_model = {vector_model:String} AND notEmpty(question_vector)
    AND ({service:String} = '' OR service = {service:String})
    AND ({environment:String} = '' OR environment = {environment:String})
