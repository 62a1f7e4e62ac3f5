"""Windows over 10 million scores from roll-ups and raw, beside inserts; look-up of one trace.

    .venv/bin/python bench/store.py [--small] [--compare]

The scores (300 series, 24 hours, 6 rubrics a record) are made in the database. While the windows
are read, batches of 5,000 rows are inserted. `--compare` also measures other ways to look up a
trace: a skip index, a projection, and neither.
"""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from bench.rig.lookup_ways import compare
from bench.rig.options import size_parser
from bench.rig.report import finish, peak_rss_mb, progress
from ragvigil.store.engine.batch import Batch, Rows
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.store import Store
from ragvigil.store.records import records
from ragvigil.store.scores import rollups
from ragvigil.store.settings import StoreSettings

SEED = 11
SERIES, RUBRICS, DAY = 300, 6, 86_400
BARS_MS = {"rollup_24h_ms": 300, "raw_24h_ms": 1000, "trace_ms": 50}
PEAK_MB = 1200

# Trace n belongs to one of 50 routes; its six scores are one a rubric.
SCORES = f"""
INSERT INTO scores
SELECT
    toStartOfMinute(at), at, toDateTime({{start:UInt32}} + {DAY}, 'UTC') AS received,
    lower(hex(sipHash128(trace, {SEED}))), lower(hex(sipHash64(trace))),
    concat('rubric_', toString(place)), 'generation', 'scorer', '1', 'r1 scorer1', 'base', 'code',
    if(sipHash64(number) % 20 = 0, NULL, (sipHash64(number, 1) % 21) / 20),
    ['', 'refused', 'quote_not_found'][sipHash64(number, 2) % 3 + 1], 'because', '', '',
    sipHash64(number, 3) % 10 = 0, 1, 'svc', 'prod', concat('/route/', toString(trace % 50)), 4, 0,
    '', 0
FROM
(
    SELECT
        number, intDiv(number, {RUBRICS}) AS trace, number % {RUBRICS} AS place,
        toDateTime64({{start:UInt32}}, 9, 'UTC')
            + (trace * {DAY} * {RUBRICS} / {{rows:UInt64}}) AS at
    FROM numbers({{first:UInt64}}, {{count:UInt64}})
)
"""
_EACH_TRACE = f"""
    SELECT
        number AS trace, toDateTime64({{start:UInt32}}, 9, 'UTC')
            + (number * {DAY} * {RUBRICS} / {{rows:UInt64}}) AS at,
        toDateTime64({{start:UInt32}} + {DAY}, 9, 'UTC') AS until,
        lower(hex(sipHash128(number, {SEED}))) AS id, lower(hex(sipHash64(number))) AS root
    FROM numbers(intDiv({{first:UInt64}}, {RUBRICS}), intDiv({{count:UInt64}}, {RUBRICS}))
"""
TRACES = f"""
INSERT INTO traces (
    trace_id, late, time, received, outcome, closed, service, spans, record_ids, backfill,
    generation, replica, epoch
)
SELECT id, 0, at, until, 'scored', 'root_ended', 'svc', 4, [root], '', 4, '', 0
FROM ({_EACH_TRACE})
"""
_WORDS = """arrayStringConcat(arrayMap(
    place -> ['refund', 'delivery', 'order', 'brewer', 'mug', 'invoice', 'how', 'can'][
        sipHash64(trace, place) % 8 + 1], range(6)), ' ')"""
RECORDS = f"""
INSERT INTO records (
    minute, time, received, trace_id, record_id, service, environment, route, query, answer,
    generation, context_source
)
SELECT toStartOfMinute(at), at, until, id, root, 'svc', 'prod',
    concat('/route/', toString(trace % 50)), {_WORDS}, 'an answer', 4, 'retrieved'
FROM ({_EACH_TRACE})
"""
AT_ONCE = 240_000


def fill(store: Store, rows: int, start: int) -> None:
    """Makes `rows` scores from `start` on, their traces and records, and the roll-ups."""
    for first in range(0, rows, AT_ONCE):
        given = {"start": start, "rows": rows, "first": first, "count": min(AT_ONCE, rows - first)}
        for statement in (SCORES, TRACES, RECORDS):
            change(store, statement, given)
        if first // AT_ONCE % 10 == 0:
            progress(f"{first + given['count']:,} scores")


def change(store: Store, statement: str, parameters: dict[str, int]) -> None:
    for name, value in parameters.items():
        kind = "UInt64" if f"{{{name}:UInt64}}" in statement else "UInt32"
        statement = statement.replace(f"{{{name}:{kind}}}", str(value))
        statement = statement.replace(f"{{{name}:UInt32}}", str(value))
    store.change(statement)


class Inserting:
    """Inserts a batch of 5,000 scores again and again while a block runs."""

    def __init__(self, store: Store, start: int) -> None:
        self._store, self._start = store, start
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        rows = [self._row(number) for number in range(5000)]
        self._rows = Rows(tuple(rows[0]), [tuple(row.values()) for row in rows])
        self.batches = 0

    def __enter__(self) -> Inserting:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            token = f"{self._start}-{self.batches}"
            self._store.write(Batch(rows={"scores": self._rows}, token=token))
            self.batches += 1
            self._stop.wait(0.2)

    def _row(self, number: int) -> dict[str, object]:
        minute = self._start + DAY + 3600
        return {
            "minute": minute, "time": minute * 10**9, "received": minute, "value": 0.5,
            "trace_id": str(number), "record_id": "r", "rubric": "refusal",
            "layer": "generation", "stream": "base", "inclusion_probability": 1.0, "generation": 4,
        }  # fmt: skip


def timed(job: Callable[[], object], times: int) -> list[float]:
    """Milliseconds of some runs; the first, cold one is not counted."""
    job()
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        job()
        taken.append((time.perf_counter() - started) * 1e3)
        time.sleep(0.05)
    return taken


def main() -> None:
    parser = size_parser(__doc__)
    parser.add_argument("--compare", action="store_true")
    options = parser.parse_args()
    rows = 198_000 if options.small else 9_999_000
    start = int(time.time()) // 3600 * 3600 - DAY
    with tempfile.TemporaryDirectory() as folder:
        settings = StoreSettings()
        if options.compare:  # building a projection of 10 million rows takes more than is allowed
            settings = StoreSettings(memory_bytes=4 << 30, query_memory_bytes=2 << 30)
        store = Store.open(settings, Path(folder))
        figures, bars = measure(store, rows, start, compares=options.compare)
        store.close()
    figures["peak_rss_mb"] = peak_rss_mb()
    if not options.small and not options.compare:
        bars |= {
            f"{name} <= {bar}": float(str(figures[name])) <= bar for name, bar in BARS_MS.items()
        }
        bars[f"peak_rss_mb <= {PEAK_MB}"] = peak_rss_mb() <= PEAK_MB
    finish("store", figures, bars, seed=SEED)


def measure(
    store: Store, rows: int, start: int, *, compares: bool
) -> tuple[dict[str, object], dict[str, bool]]:
    """Figures, and whether the answers are right."""
    fill(store, rows, start)
    filled_mb = peak_rss_mb()
    began = time.perf_counter()
    hours = rollups.rebuild(store)
    rebuild_seconds = time.perf_counter() - began
    progress(f"roll-ups of {hours} hours rebuilt in {rebuild_seconds:.1f} s")
    figures: dict[str, object] = {
        "scores": rows,
        "rebuild_s": round(rebuild_seconds, 1),
        "rss_filled_mb": filled_mb,
        "rss_rebuilt_mb": peak_rss_mb(),
    }
    window = {"first": start, "end": start + DAY}
    from_rollups = store.read("rollup_means", window)
    from_raw = store.read("raw_means", window)
    ids = some_ids(store)
    figures |= beside_inserts(store, start, ids)
    found = records.trace(store, ids[0])
    if compares:
        figures["compare"] = compare(store, ids[:15], RUBRICS)
    bars = {
        "300 series": len(from_rollups) == SERIES,
        "every score counted once": sum(row["n"] for row in from_raw) == _with_value(store, start),
        "roll-ups equal raw": [_rounded(row) for row in from_rollups]
        == [_rounded(row) for row in from_raw],
        "a trace has its scores": found is not None
        and len(found["records"][0]["scores"]) == RUBRICS,
    }
    return figures, bars


def beside_inserts(store: Store, start: int, ids: list[str]) -> dict[str, object]:
    """Median and slowest of each read while batches are inserted."""
    window, looked = {"first": start, "end": start + DAY}, iter(ids * 9)
    with Inserting(store, start) as inserting:
        runs = {
            "rollup_24h": timed(lambda: store.read("rollup_means", window), 9),
            "raw_24h": timed(lambda: store.read("raw_means", window), 5),
            "trace": timed(lambda: records.trace(store, next(looked)), 30),
        }
    figures: dict[str, object] = {"inserted_batches": inserting.batches}
    for name, taken in runs.items():
        figures[f"{name}_ms"] = round(statistics.median(taken), 1)
        figures[f"{name}_slowest_ms"] = round(max(taken), 1)
    return figures


def some_ids(store: Store) -> list[str]:
    """Trace ids spread over the day."""
    sql = "SELECT trace_id FROM traces ORDER BY sipHash64(trace_id) LIMIT 40"
    rows: list[list[str]] = store._ask(
        "ids", lambda client: client.query(sql).result_rows, Priority.TICK
    )
    return [row[0] for row in rows]


def _with_value(store: Store, start: int) -> int:
    sql = f"SELECT count(value) FROM scores WHERE minute < toDateTime({start + DAY}, 'UTC')"
    rows: list[list[int]] = store._ask(
        "count", lambda client: client.query(sql).result_rows, Priority.TICK
    )
    return rows[0][0]


def _rounded(row: dict[str, object]) -> tuple[object, ...]:
    mean = row["mean"]
    assert isinstance(mean, float)
    return row["route"], row["rubric"], row["n"], round(mean, 9), row["failed_records"]


if __name__ == "__main__":
    main()
