-- Of these records what a list shows, placed as `record_rows` does: a fifth of the columns.
SELECT
    trace_id, record_id, service, environment, route, query, answer, error, absent,
    `retrieved.chunk_id`, `reranked.chunk_id`, `context.chunk_id`,
    `feedback.value`, session_id, response_ids, span_ids,
    toUnixTimestamp64Nano(time) AS time_nanos
@placed_records
