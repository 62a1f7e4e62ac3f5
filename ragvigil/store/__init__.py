"""All of ClickHouse: schema, migrations, one writer, limited reads.

What other parts use (times are seconds since the epoch unless a name says nanos):

    store.py          Store.open(settings, data_dir, *, replica="", epoch=0, clock=time.time)
                      store.submit(batch) -> Future[Written]; store.write(batch) -> Written
                      store.read(name, parameters=None, *, priority=Priority.PAGE) -> list[dict]
                      store.arrays(name, parameters=None, *, priority=Priority.TICK)
                        -> dict[str, ndarray]
                      store.run(name, parameters=None, *, priority=Priority.TICK): INSERT ... SELECT
                      store.status() -> StoreStatus; store.close(); store.replica; store.epoch
    traces.py         TraceRows(rubrics: Mapping[str, RubricFacts], replica, epoch)
                        .add(outcome); .is_due(now, settings); .take() -> Batch
                      look_up(store, ids) / stored_since(store, seconds) -> dict[str, StoredTrace]
                      counts(store) -> dict[outcome, traces]
    records.py        trace(store, trace_id) -> dict | None        exactly the API's TraceForm
                      find(store, Wanted(...)) -> list[dict]       the API's RecordSummary
                      absences(store, since) -> list[dict]         rows of doctor
    rollups.py        recompute(store, minutes); rebuild(store, since=0)
                      counts(store, start, end) -> SeriesCounts    arrays, label counts beside them
                      changed(store, version) -> Changed | None    first, last, version
                      raw_means(store, start, end)                 the same from scores
    rubric_deltas.py  batch(deltas, now_nanos, ...) -> Batch; newest(...), since(...)
                      closed_until(store) -> int | None
    feedback.py       Told(...); batch(told, ...) -> Batch; matches(store, told) -> bool
    deploys.py        Deploy(...); batch(...); find(store, service, since, limit) -> list[dict]
    ledger.py         FrameRow-like values -> batch(...); sums(store) -> dict[str, int]
    retention.py      apply_days(store); enforce_max_bytes(store)
"""
