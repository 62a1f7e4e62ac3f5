"""Spans a second acknowledged, scored and stored, beside a ceiling and beside a peer.

    .venv/bin/python bench/ingest.py [--small] [--phoenix PATH_OF_A_VENV_WITH_ARIZE_PHOENIX]

One run measures, one after the other on the same machine and the same requests: the ceiling
(parse and column-oriented insert of the same rows, nothing else), the daemon at full rate, the
daemon at half that rate (acknowledgement latency, and bare syncs of the disk beside it), the
ceiling once more, since a machine's speed changes by the minute and the mean of both stands beside
the daemon, and Phoenix where a venv is given. The ceiling with batches as large as the daemon's
grow under such a load is a figure beside it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.rig import otlp_requests
from bench.rig.beside import repeatedly
from bench.rig.ingest_ceiling import BATCH_SPANS, ceiling
from bench.rig.options import size_parser
from bench.rig.phoenix_process import phoenix_rate
from bench.rig.processes import core_pid, memory_mb
from bench.rig.report import finish, progress
from ragvigil.app.demo.child_daemon import ChildDaemon, running
from ragvigil.app.pipeline.sink import LARGEST

SEED = 7
PEER_TRACES = 2_000
"""Three quarters of a minute: its rate falls as it fills, from 146 to 123 spans a second between
400 traces and these."""
LEAST_WAIT, MOST_WAIT = 0.25, 10.0
"""Seconds between two looks at what is stored."""
BARS = {"ratio_ceiling": 0.5, "ratio_phoenix": 25, "ack_p99_ms": 50, "intake_idle_mb": 80}
BARS |= {"intake_peak_mb": 300, "core_peak_mb": 1200}


def p99(numbers: list[float]) -> float:
    """99th percentile."""
    return statistics.quantiles(numbers, n=100)[98]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One load: spans acknowledged, seconds, and latencies of acknowledgement in ms."""

    spans: int
    seconds: float
    latencies: list[float]

    def p99(self) -> float:
        """99th percentile of the acknowledgement, ms."""
        return p99(self.latencies)


@contextlib.contextmanager
def bare_syncs(folder: Path) -> Iterator[list[float]]:
    """How long the disk takes for 4 KB meanwhile, ten times a second, ms: no acknowledgement can
    be faster, and the disk of a shared machine is slow at times."""
    taken: list[float] = []
    with (folder / "probe").open("wb", buffering=0) as probe:

        def sync() -> None:
            asked = time.perf_counter()
            probe.write(bytes(4096))
            os.fdatasync(probe.fileno())
            taken.append((time.perf_counter() - asked) * 1e3)

        with repeatedly(sync, every_seconds=0.1):
            yield taken


async def send(address: str, requests: list[bytes], *, concurrency: int, rate: float = 0) -> Sent:
    """Sends every request over gRPC; `rate` in requests a second, 0 = as fast as acknowledged."""
    import grpc.aio

    latencies: list[float] = []
    waiting: Iterator[tuple[int, bytes]] = iter(enumerate(requests))
    started = time.perf_counter()
    async with grpc.aio.insecure_channel(address) as channel:
        export = channel.unary_unary(otlp_requests.EXPORT)

        async def worker() -> None:
            for number, body in waiting:
                if rate:
                    due = started + number / rate - time.perf_counter()
                    await asyncio.sleep(max(0.0, due))
                asked = time.perf_counter()
                await export(body, timeout=60)
                latencies.append((time.perf_counter() - asked) * 1e3)

        await asyncio.gather(*(worker() for _ in range(concurrency)))
    seconds = time.perf_counter() - started
    return Sent(spans=len(requests) * otlp_requests.SPANS, seconds=seconds, latencies=latencies)


def spans_of(daemon: ChildDaemon) -> dict[str, int]:
    """The ledger's counts of spans."""
    return dict(daemon.get("ledger")["spans"])


def full_rate(daemon: ChildDaemon, requests: list[bytes]) -> float:
    """Spans a second from the first byte sent to the last span in the store."""
    before = spans_of(daemon)["stored"]
    started = time.perf_counter()
    sent = asyncio.run(send(daemon.grpc, requests, concurrency=4))
    progress(f"acknowledged {sent.spans} spans in {sent.seconds:.1f} s")
    while (left := before + sent.spans - spans_of(daemon)["stored"]) > 0:
        # Each look costs the daemon a query: the next one comes at half the way there.
        seconds = (time.perf_counter() - started) * left / max(1, sent.spans - left)
        time.sleep(min(max(LEAST_WAIT, seconds / 2), MOST_WAIT))
    return sent.spans / (time.perf_counter() - started)


def main() -> None:
    parser = size_parser(__doc__)
    parser.add_argument("--phoenix", type=Path)
    options = parser.parse_args()
    traces = 500 if options.small else 40_000
    requests = otlp_requests.make(traces, seed=SEED)
    before, spans_only = ceiling(requests), ceiling(requests, spans_only=True)
    large = ceiling(requests, batch=LARGEST * BATCH_SPANS)
    progress(f"ceiling {before:.0f} spans/s, {spans_only:.0f} without records and scores")
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as daemon:
        idle = memory_mb(daemon.process.pid, "VmRSS")
        stored = full_rate(daemon, requests)
        progress(f"stored {stored:.0f} spans/s")
        half = otlp_requests.make(max(100, traces // 2), seed=SEED + 1)
        rate = stored / 2 / otlp_requests.SPANS
        with bare_syncs(Path(folder)) as syncs:
            paced = asyncio.run(send(daemon.grpc, half, concurrency=16, rate=rate))
        figures: dict[str, object] = {
            "spans": len(requests) * otlp_requests.SPANS,
            "ceiling_spans_only_per_s": round(spans_only),
            "ceiling_large_batches_per_s": round(large),
            "stored_spans_per_s": round(stored),
            "ack_p99_ms": round(paced.p99(), 1),
            "bare_sync_p99_ms": round(p99(syncs), 1),
            "intake_idle_mb": idle,
            "intake_peak_mb": memory_mb(daemon.process.pid, "VmHWM"),
            "core_peak_mb": memory_mb(core_pid(daemon), "VmHWM"),
            "ledger": spans_of(daemon),
        }
    after = ceiling(requests)
    progress(f"ceiling {after:.0f} spans/s once more")
    top = (before + after) / 2
    figures |= {"ceiling_before": round(before), "ceiling_after": round(after)}
    figures |= {"ceiling_spans_per_s": round(top), "ratio_ceiling": round(stored / top, 3)}
    if options.phoenix:
        peer = phoenix_rate(options.phoenix, otlp_requests.make(PEER_TRACES, seed=SEED))
        figures |= {"phoenix_spans_per_s": round(peer), "ratio_phoenix": round(stored / peer, 1)}
    finish("ingest", figures, _bars(figures, small=options.small), seed=SEED)


def _bars(figures: dict[str, object], *, small: bool) -> dict[str, bool]:
    ledger = figures["ledger"]
    assert isinstance(ledger, dict)
    books = ledger["acknowledged"] == (
        ledger["stored"] + ledger["duplicate"] + ledger["quarantined"] + ledger["in_spool"]
    )
    bars = {"the books balance": books}
    if small:
        return bars
    for name, bar in BARS.items():
        if name in figures:
            figure = figures[name]
            assert isinstance(figure, int | float)
            is_least = name.startswith("ratio")
            bars[f"{name} {'>=' if is_least else '<='} {bar}"] = (
                figure >= bar if is_least else figure <= bar
            )
    return bars


if __name__ == "__main__":
    main()
