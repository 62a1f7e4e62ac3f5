"""All of ClickHouse: schema, migrations, one writer, limited reads.

    engine/    the connection and its thread: `Store` writes batches and reads rows; migrations,
               retention, and `table`, which turns frozen values into rows and back by name
    records/   spans, records, document texts, feedback, the ledger of frames
    scores/    scores, their roll-ups and deltas, labels, verdicts, the canary
    watch/     notices, findings, incidents, audits, deploy marks, sums of the signals
    issues/    failing records, issues, root causes, golden cases, topics
    schema/    the migrations, one numbered .sql file each, never changed afterwards
    queries/   all other SQL, one named .sql file each

A module here is named after the table that it writes or the question that it answers. `batch`
functions make what `Store.write` takes; the other functions read. Times are seconds since the epoch
unless a name says `unix_nano`. To add a field to a value: add it to the dataclass in
`ragvigil/model/` and add a migration that makes its column.
"""
