"""Acknowledgement of spans by a daemon at rest, and by one that clusters failing records, by turns.

    .venv/bin/python bench/clustering_latency.py [--small] [--seed N]

A store is filled once with failing records of one service, vectors and all; every run is a fresh
daemon on a copy of it. Its clock runs faster, in all runs alike, so that the hour's turn, which
reads, clusters and reconciles, comes after a minute. The run at rest is over before; the other one
begins when the clustering process is there, whose CPU seconds are read meanwhile.
"""

from __future__ import annotations

import asyncio
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx2
import numpy as np
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from bench.ingest import send
from bench.rig.clustering_watch import clustering_pids, watching
from bench.rig.failing_days import days, questions
from bench.rig.judge_latency import single_traces
from bench.rig.options import size_parser
from bench.rig.otlp_requests import SPANS_A_TRACE
from bench.rig.processes import core_pid
from bench.rig.report import finish, progress
from clustering.failures.embedding import FailureEmbedder
from clustering.failures.masking import masked
from clustering.grouping.child import cluster_in_child
from ragvigil.app.demo.child_daemon import ChildDaemon, running
from ragvigil.inference.process import Inference
from ragvigil.inference.settings import InferenceSettings
from ragvigil.model.clock import VARIABLE, Pace
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import issues
from ragvigil.store.issues.failing_rows import AT_ONCE, KeptFailure
from ragvigil.store.settings import StoreSettings

SPANS_A_SECOND = 200.0
RATE = SPANS_A_SECOND / SPANS_A_TRACE
"""Requests a second, one trace each."""
MOST_RATIO, MOST_MORE_MS = 1.2, 5.0
LEAST_SHARE = 0.75
"""Of the measured seconds, in which a clustering process runs; in the others the core itself reads
the records of one family and makes issues of those of another."""
SEED, DAYS, DAY, NANOS = 5, 5, 86_400, 10**9
WARM_REQUESTS = 50
RECORDS_A_TURN = 100
"""More than fail in six seconds; the first turn, which embeds so many anew, is over early."""
LOOK_SECONDS, PATIENCE_SECONDS = 0.5, 300.0
WAYS = ("alone", "clustering")


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How much is measured; `factor` is how fast the daemon's clock runs.

    `is_compiled`: as in a daemon that has clustered before, the process does not compile first.
    """

    records: int
    runs: int
    requests: int
    factor: float
    is_compiled: bool


FULL = Course(records=12_000, runs=5, requests=1000, factor=10, is_compiled=True)
SMALL = Course(records=200, runs=1, requests=100, factor=40, is_compiled=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One run. `cpu_seconds` of the clustering processes are those within the measured ones."""

    requests: int
    seconds: float
    p99_ms: float
    clustering_pids: tuple[int, ...]
    clustering_share: float
    clustering_cpu_seconds: float


def fill(folder: Path, records: int, seed: int) -> None:
    """A daemon's data with so many failing records of the past days, and their vectors."""
    today = int(time.time()) // DAY
    made = days(questions("banking77"), seed=seed, first_day=today - DAYS, count=DAYS,
                per_day=records // DAYS)  # fmt: skip
    inference = Inference(InferenceSettings(timeout_seconds=300, cache_entries=200_000))
    vectors = FailureEmbedder(inference)
    kept = vectors.fill(
        [
            KeptFailure(
                failure=failing.failure,
                masked=masked(failing.failure.reason, failing.failure.question),
                received=failing.failure.time_unix_nano // NANOS,
                digest=1,
            )
            for failing in made
        ]
    )
    inference.close()
    if len(kept) < len(made):
        raise SystemExit(vectors.why)
    store = Store.open(StoreSettings(), folder)
    for start in range(0, len(kept), AT_ONCE):
        store.write(issues.batch(time.time_ns(), failures=kept[start : start + AT_ONCE]))
    store.close()


def compile_clustering(folder: Path) -> None:
    """Makes the machine code that a daemon on this data has from its first clustering on."""
    some = np.random.default_rng(SEED).normal(size=(200, 768)).astype(np.float32)
    cluster_in_child(some / np.linalg.norm(some, axis=1, keepdims=True), seed=SEED,
                     timeout_seconds=PATIENCE_SECONDS, memory_bytes=2 << 30,
                     compiled=folder / "clustering")  # fmt: skip


def measured(
    filled: Path, folder: Path, way: str, bodies: Sequence[bytes], factor: float
) -> Measured:
    """Sends the requests to a fresh daemon, at rest or while it clusters."""
    shutil.copytree(filled, folder, symlinks=True)
    clock = Pace(factor=factor, origin=time.time())
    settings = {
        VARIABLE: f"{clock.factor}@{clock.origin}",
        "RAGVIGIL_CLUSTERING__RECORDS": str(RECORDS_A_TURN),
        "RAGVIGIL_CLUSTERING__TOPICS__QUESTIONS_PER_DAY": "0",
    }
    with running(folder, settings=settings) as daemon:
        core = core_pid(daemon)
        warm = stamped(bodies[:WARM_REQUESTS], clock)
        asyncio.run(send(daemon.grpc, warm, concurrency=4, rate=RATE))
        if way == "clustering":
            _until(lambda: bool(clustering_pids(core)), "nothing was clustered")
        else:
            _until(lambda: has_placed(daemon), "failing records were not placed")
        return _send(daemon, core, stamped(bodies[WARM_REQUESTS:], clock))


def has_placed(daemon: ChildDaemon) -> bool:
    """Whether the first turn is over: it loads the model, and looks at all that is in no issue."""
    shown = httpx2.get(f"http://{daemon.metrics}/metrics", timeout=PATIENCE_SECONDS).text
    return 'ragvigil_clustering_seconds_count{step="place"}' in shown


def _send(daemon: ChildDaemon, core: int, bodies: list[bytes]) -> Measured:
    with watching(core) as watched:
        done = asyncio.run(send(daemon.grpc, bodies, concurrency=16, rate=RATE))
    return Measured(
        requests=len(done.latencies),
        seconds=round(done.seconds, 1),
        p99_ms=round(done.p99(), 2),
        clustering_pids=tuple(watched.cpu),
        clustering_share=round(statistics.mean(watched.looks), 2),
        clustering_cpu_seconds=round(sum(last - first for first, last in watched.cpu.values()), 2),
    )


def stamped(bodies: Sequence[bytes], clock: Pace) -> list[bytes]:
    """Requests whose traces begin, by this clock, when they are sent at `RATE` from now on."""
    now = time.time()
    begins = (clock.at(now + number / RATE) for number in range(len(bodies)))
    return [
        _beginning(body, int(begin * NANOS)) for body, begin in zip(bodies, begins, strict=True)
    ]


def _beginning(body: bytes, nanos: int) -> bytes:
    request = ExportTraceServiceRequest.FromString(body)
    spans = request.resource_spans[0].scope_spans[0].spans
    later = nanos - min(span.start_time_unix_nano for span in spans)
    for span in spans:
        span.start_time_unix_nano += later
        span.end_time_unix_nano += later
    moved: bytes = request.SerializeToString()
    return moved


def _until(is_so: Callable[[], bool], otherwise: str) -> None:
    """Raises TimeoutError."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError(otherwise)
        time.sleep(LOOK_SECONDS)


def run(course: Course, seed: int) -> dict[str, list[Measured]]:
    """All runs, of both ways; which comes first alternates."""
    found: dict[str, list[Measured]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        progress(f"filling a store with {course.records} failing records")
        fill(folder / "filled", course.records, seed)
        if course.is_compiled:
            compile_clustering(folder / "filled")
        for number in range(course.runs):
            bodies = single_traces(WARM_REQUESTS + course.requests, seed=seed + number)
            for way in WAYS[:: -1 if number % 2 else 1]:
                copy = folder / f"{way}{number}"
                found[way].append(measured(folder / "filled", copy, way, bodies, course.factor))
                shutil.rmtree(copy)
                progress(f"run {number + 1}, {way}: {found[way][-1]}")
    return found


def figures_of(
    course: Course, found: Mapping[str, Sequence[Measured]], *, small: bool
) -> tuple[dict[str, object], dict[str, bool]]:
    """What is printed, and which bars hold; of speed and duration only where not `small`."""
    medians = {
        way: statistics.median(measured_run.p99_ms for measured_run in found[way]) for way in WAYS
    }
    allowed = round(MOST_RATIO * medians["alone"] + MOST_MORE_MS, 2)
    figures: dict[str, object] = {
        **asdict(course),
        "spans_a_second": SPANS_A_SECOND,
        "measured": {way: [asdict(measured_run) for measured_run in found[way]] for way in WAYS},
        "median_p99_ms": medians,
        "allowed_p99_ms": allowed,
    }
    clustering = found["clustering"]
    bars = {
        "every request acknowledged": all(
            measured_run.requests == course.requests for way in WAYS for measured_run in found[way]
        ),
        "a clustering process computed in every run that clusters": all(
            measured_run.clustering_cpu_seconds > 0 for measured_run in clustering
        ),
    }
    if not small:
        bars |= {
            "none ran in a run at rest": not any(
                measured_run.clustering_pids for measured_run in found["alone"]
            ),
            f"one ran in >= {LEAST_SHARE:.0%} of the seconds of the others": all(
                measured_run.clustering_share >= LEAST_SHARE for measured_run in clustering
            ),
            f"p99 acknowledgement <= {MOST_RATIO} x + {MOST_MORE_MS:g} ms of that at rest": (
                medians["clustering"] <= allowed
            ),
        }
    return figures, bars


def main() -> None:
    parser = size_parser(__doc__)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    course = SMALL if options.small else FULL
    found = run(course, options.seed)
    figures, bars = figures_of(course, found, small=options.small)
    finish("clustering_latency", figures, bars, seed=options.seed)


if __name__ == "__main__":
    main()
