"""What 1,000 answers cost: CPU by stage, bytes of the spool, bytes in ClickHouse by table.

    .venv/bin/python bench/footprint.py [--small] [--answers N] [--columns]

The answers are those of `rig/everyday_service.py`: 20 KB and nine spans each, with four other
traces of three spans. For each value of `store.spans` they are read, assembled, scored and
stored, one stage after the other in one process, without the network and without local models;
then the tables are merged, and `system.parts` says what they hold. CPU is that of the process, the
engine's threads included. `--columns` adds the largest columns.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.rig import everyday_service
from bench.rig.options import size_parser
from bench.rig.report import finish, progress
from collector.assembly.assembly import Assembly
from collector.assembly.fetch import TraceFetcher
from collector.assembly.refs import Closing
from collector.assembly.settings import AssemblyLimits
from collector.record.build import records_of_each
from collector.spool.frames import Frame
from ragvigil.app.parts import facts
from ragvigil.app.process.tied import run_tied
from ragvigil.model.outcome import Outcome, ScoredRecord, TraceOutcome
from ragvigil.model.span import Closed, Signal, Trace
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.store import Store
from ragvigil.store.records.traces import TraceRows
from ragvigil.store.settings import KeptSpans, StoreSettings
from scorers.record_shape import measure
from scorers.runner import Runner, load_scorers

SEED = 21
ANSWERS, SMALL_ANSWERS = 5_000, 40
BATCH_FRAMES = 5
COLUMNS_SHOWN = 14


class Stages:
    """CPU seconds by stage; a stage may run many times."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Counts the block to a stage."""
        began = time.process_time()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - began


class _Frames:
    """Frames by number, as the spool gives them."""

    def __init__(self, frames: dict[int, Frame]) -> None:
        self._frames = frames

    def get(self, seq: int) -> Frame:
        return self._frames[seq]


def run(folder: Path, answers: int, keeps: KeptSpans, *, small: bool) -> dict[str, Any]:
    """Everything measured with one value of the setting."""
    bodies = everyday_service.requests(answers, seed=SEED, small=small)
    now = time.time_ns()
    spans = everyday_service.ANSWER_SPANS
    spans += everyday_service.BESIDE * everyday_service.BESIDE_SPANS
    frames = {
        seq: Frame(seq=seq, payload=body, signal=Signal.TRACES, items=spans, received_unix_nano=now)
        for seq, body in enumerate(bodies, 1)
    }
    stages, fetcher = Stages(), TraceFetcher(_Frames(frames), keeps=keeps)
    runner = Runner(load_scorers()).lean()
    rows = TraceRows(facts(runner))
    store = Store.open(StoreSettings(spans=keeps), folder, epoch=1)
    try:
        listed = list(frames.values())
        for first in range(0, len(listed), BATCH_FRAMES):
            closings = _closings(listed[first : first + BATCH_FRAMES], fetcher, stages)
            for outcome in _outcomes(closings, fetcher, runner, stages):
                with stages.of("rows"):
                    rows.add(outcome)
            with stages.of("store"):
                store.write(rows.take())
        tables = _merged(store, stages)
        columns = _columns(store)
    finally:
        store.close()
    a_thousand = answers / 1000
    return {
        "spool_bytes": round(sum(map(len, bodies)) / a_thousand),
        "cpu_seconds": {
            name: round(seconds / a_thousand, 3) for name, seconds in stages.seconds.items()
        },
        "bytes": {name: round(size / a_thousand) for name, size in tables.items()},
        "columns": {name: round(size / a_thousand) for name, size in columns.items()},
    }


def _closings(frames: list[Frame], fetcher: TraceFetcher, stages: Stages) -> list[Closing]:
    assembly = Assembly(AssemblyLimits())
    with stages.of("read and assemble"):
        for frame in frames:
            for arrival in fetcher.arrivals(frame):
                assembly.add(arrival, 0.0)
        return assembly.close_all(Closed.ROOT_ENDED)


def _outcomes(
    closings: list[Closing], fetcher: TraceFetcher, runner: Runner, stages: Stages
) -> Iterator[Outcome]:
    with stages.of("spans"):
        traces = [fetcher.fetch(closing) for closing in closings]
        kept = [fetcher.kept(trace) for trace in traces]
    with stages.of("records"):
        by_trace = records_of_each(traces)
    with stages.of("scores"):
        scored = [
            tuple(
                ScoredRecord(record=record, scores=runner.score_all(record), shape=measure(record))
                for record in records
            )
            for records in by_trace
        ]
    for trace, ids, records in zip(traces, kept, scored, strict=True):
        yield _outcome(trace, ids, records)


def _outcome(
    trace: Trace, kept: frozenset[str] | None, records: tuple[ScoredRecord, ...]
) -> Outcome:
    return Outcome(
        trace=trace,
        outcome=TraceOutcome.SCORED if records else TraceOutcome.NOT_RAG,
        time_unix_nano=trace.received_unix_nano,
        records=records,
        kept=kept,
    )


def _merged(store: Store, stages: Stages) -> dict[str, int]:
    """Bytes of each table with rows, after a forced merge."""
    with stages.of("merge"):
        for table in _column(store, "SELECT DISTINCT table FROM system.parts WHERE active"):
            store.change(f"OPTIMIZE TABLE {table} FINAL")
    sql = (
        "SELECT table, sum(bytes_on_disk) FROM system.parts WHERE active AND rows > 0 AND "
        "database = currentDatabase() GROUP BY table ORDER BY 2 DESC"
    )
    return {str(table): int(size) for table, size in _rows(store, sql)}


def _columns(store: Store) -> dict[str, int]:
    """Compressed bytes of the largest columns."""
    sql = (
        "SELECT concat(table, '.', name), data_compressed_bytes FROM system.columns "
        f"WHERE database = currentDatabase() ORDER BY 2 DESC LIMIT {COLUMNS_SHOWN}"
    )
    return {str(name): int(size) for name, size in _rows(store, sql)}


def _rows(store: Store, sql: str) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = store._ask(
        "footprint", lambda client: list(client.query(sql).result_rows), Priority.SCAN
    )
    return found


def _column(store: Store, sql: str) -> list[str]:
    database = "AND database = currentDatabase()"
    return [str(row[0]) for row in _rows(store, f"{sql} {database}")]


def main() -> None:
    parser = size_parser(__doc__)
    parser.add_argument("--columns", action="store_true")
    parser.add_argument("--answers", type=int)
    parser.add_argument("--one", help="measures one value and prints it; for the process itself")
    options = parser.parse_args()
    answers = options.answers or (SMALL_ANSWERS if options.small else ANSWERS)
    if options.one:
        with tempfile.TemporaryDirectory() as folder:
            keeps = KeptSpans(options.one)
            print(json.dumps(run(Path(folder), answers, keeps, small=options.small)))
        return
    measured = {keeps.value: _one(keeps, answers, small=options.small) for keeps in KeptSpans}
    totals = {keeps: sum(figures["bytes"].values()) for keeps, figures in measured.items()}
    if not options.columns:
        for figures in measured.values():
            del figures["columns"]
    figures = {"answers": answers, "a_thousand_answers": measured, "bytes_in_all": totals}
    bars = {"fewer spans kept, fewer bytes": totals["all"] > totals["rag"] > totals["none"]}
    finish("footprint", figures, bars, seed=SEED)


def _one(keeps: KeptSpans, answers: int, *, small: bool) -> dict[str, Any]:
    """In a process of its own: the embedded engine opens one directory only."""
    progress(f"spans = {keeps.value}")
    command = [sys.executable, __file__, "--one", keeps.value, "--answers", str(answers)]
    done = run_tied([*command, *(["--small"] if small else [])], seconds=None, stderr=None)
    done.check_returncode()
    # Libraries that are loaded on the way may print lines of their own before.
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


if __name__ == "__main__":
    main()
