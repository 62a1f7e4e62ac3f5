"""All of ClickHouse: schema, migrations, one writer, limited reads.

What other parts use (times are seconds since the epoch unless a name says nanos):

    store.py          Store.open(settings, data_dir, *, replica="", epoch=0, clock=time.time)
                      store.submit(batch) -> Future[Written]; store.write(batch) -> Written
                      store.read(name, parameters=None, *, priority=Priority.PAGE) -> list[dict]
                      store.arrays(name, parameters=None, *, priority=Priority.TICK)
                        -> dict[str, ndarray]
                      store.status() -> StoreStatus; store.close(); store.replica; store.epoch
    traces.py         TraceRows(rubrics: Mapping[str, RubricFacts], replica=, epoch=)
                        .add(outcome, now); .row_count; .is_due(now, settings); .take() -> Batch
                      look_up(store, ids), stored_since(store, time) -> dict[str, StoredTrace]
                      counts(store) -> dict[outcome, traces]
    records.py        trace(store, trace_id) -> dict | None        the API's TraceForm
                      find(store, Wanted(...)) -> list[dict]       the API's RecordSummary
                      spans(store, trace_id) -> list[dict]         texts put back
                      absences(store, since) -> list[dict]         rows of doctor
    rollups.py        recompute(store, minutes); rebuild(store, since=0)
                      minutes_received(store, since) -> minutes    to recompute after a crash
                      counts(store, start, end, bin_seconds=60) -> SeriesCounts
                      changed(store, version) -> Changed | None    first, last, version
    rubric_deltas.py  batch(deltas, computed_unix_nano, replica=, epoch=) -> Batch
                      newest(store, Wanted(...)), since(store, Wanted(...)) -> list[Delta]
                      closed_until(store) -> int | None
    feedback.py       batch([event], received_unix_nano); matches(store, event) -> bool
    deploys.py        Deploy(...); batch(...); find(store, service=, since=, limit=) -> list[dict]
    notices.py        batch(notices, ...); find(store, ...), newest(store, each=) -> list[Notice]
                      past(store, ...) -> records to rebuild detectors from; lengths(store, hashes)
    labels.py         Label(...); batch(...); find(store, Wanted(...)), newest(store) -> list[Label]
    verdicts.py       of_traces(store, trace_ids, rubrics), recent(store, since) -> list[Verdict]
                      judges(store, since) -> list[Judge]; sums(store, since, rubrics)
    canary.py         members_batch(CanarySet(...)), scores_batch(...); current(store), runs(store)
    failing.py        minutes_changed(store, version), minutes_disliked(store, told, since)
                      changes(store, minutes, fails_below, limit) -> list[Change]
                      read(store, changes, fails_below) -> list[Failing]; bury(store, gone, written)
    failed.py         KeptFailure(...); find(store, Wanted(...)) -> list[KeptFailure]
                      vectors(store, kept, model) -> blocks of vectors by key
    memberships.py    counted(store); tally(store, since, ...), requests(store, since)
    issues.py         batch(written, failures=, members=, events=, pairs=, issues=) -> Batch
                      find(store, Wanted(...)); events(store, issue_id); pairs(store, ...)
    root_causes.py    batch(report, written); find(store, issue_id) -> list[RootCause]
    causes.py         failing(store, issue, ids), passing(store, issue) -> records to compare
                      explained(store, since) -> when, by issue, and runs of a model
    checkpoints.py    position(store, reader); mark(store, reader, position, written)
    ledger.py         batch(frames, replica=, epoch=) -> Batch; sums(store) -> dict[str, int]
    retention.py      apply_days(store); enforce_max_bytes(store) -> rows dropped by table
"""
