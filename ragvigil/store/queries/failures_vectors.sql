-- Vectors of these records that are of one model.
SELECT trace_id, record_id, reason_vector, question_vector
FROM failures FINAL
WHERE minute IN {minutes:Array(DateTime('UTC'))} AND trace_id IN {trace_ids:Array(String)}
    AND vector_model = {model:String}
