SELECT minute, received, time, trace_id, record_id, value
FROM scores FINAL
@score_conditions
