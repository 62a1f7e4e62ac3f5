"""Acknowledgement of spans by a daemon without judge, with one that judges a share, and one that
judges every record, run by turns.

The bar is for the share: 10 %, the most that a sidecar is meant to sample. Every record is ten
times that, and is printed beside it.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from bench.ingest import Sent, send
from bench.rig import otlp_requests
from bench.rig.judge_stand_in import standing_in
from bench.rig.report import progress
from ragvigil.app.demo.child_daemon import ChildDaemon, running

RATE = 40.0
"""Requests a second, one trace each."""
SAMPLE_RATES = {"off": 0.0, "sampled": 0.1, "every": 1.0}
MOST_RATIO, MOST_MORE_MS = 1.2, 5.0
WAIT_SECONDS = 600.0


def single_traces(count: int, *, seed: int) -> list[bytes]:
    """`count` requests of a single trace each."""
    per = otlp_requests.TRACES_A_REQUEST
    whole = otlp_requests.make((count + per - 1) // per * per, seed=seed)
    return [part for body in whole for part in _split(body)][:count]


def _split(body: bytes) -> list[bytes]:
    request = ExportTraceServiceRequest.FromString(body)
    resource = request.resource_spans[0]
    traces: dict[bytes, ExportTraceServiceRequest] = {}
    for span in resource.scope_spans[0].spans:
        made = traces.get(span.trace_id)
        if made is None:
            made = traces[span.trace_id] = ExportTraceServiceRequest()
            made.resource_spans.add().resource.CopyFrom(resource.resource)
            made.resource_spans[0].scope_spans.add()
        made.resource_spans[0].scope_spans[0].spans.add().CopyFrom(span)
    return [trace.SerializeToString() for trace in traces.values()]


def judging(address: str, sample_rate: float = 1.0) -> dict[str, str]:
    """Settings of a daemon that judges this share of the records, at once."""
    return {
        "RAGVIGIL_JUDGE__MODEL": "openai:stand-in",
        "RAGVIGIL_JUDGE__BASE_URL": f"{address}/v1",
        "RAGVIGIL_JUDGE__KEY": "none",
        "RAGVIGIL_JUDGE__ALLOW": "true",
        "RAGVIGIL_JUDGE__SAMPLE_RATE": str(sample_rate),
        "RAGVIGIL_JUDGE__WAIT_SECONDS": "0",
    }


def latency(seed: int, *, small: bool) -> dict[str, Any]:
    """p99 of the acknowledgement of each run, and what was judged meanwhile."""
    runs, requests = (1, 80) if small else (5, 800)
    ways = list(SAMPLE_RATES)
    p99: dict[str, list[float]] = {name: [] for name in ways}
    calls = dict.fromkeys(ways, 0)
    sent = 0
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "calls"
        with standing_in(seconds=0.2, log=log, gives_way=True) as address:
            for number in range(runs):
                bodies = single_traces(requests, seed=seed + number)
                for name in ways[number % 3 :] + ways[: number % 3]:
                    rate = SAMPLE_RATES[name]
                    settings = judging(address, rate) if rate else {}
                    before = _lines(log)
                    done = _acknowledged(Path(folder) / f"{name}{number}", settings, bodies, log)
                    calls[name] += _lines(log) - before
                    p99[name].append(round(done.p99(), 2))
                    sent += len(done.latencies)
                    progress(f"run {number + 1}, judge {name}: p99 {p99[name][-1]} ms")
    medians = {name: statistics.median(found) for name, found in p99.items()}
    return {
        "requests": sent,
        "requests_expected": len(ways) * runs * requests,
        "rate": RATE,
        "sample_rates": SAMPLE_RATES,
        "p99_ms": p99,
        "median_ms": medians,
        "allowed_ms": round(MOST_RATIO * medians["off"] + MOST_MORE_MS, 2),
        "judge_calls": calls,
    }


def _acknowledged(
    folder: Path, settings: Mapping[str, str], bodies: list[bytes], log: Path
) -> Sent:
    """Sends the requests to a fresh daemon; with a judge, waits until it has been asked."""
    before = _lines(log)
    with running(folder, settings=settings) as daemon:
        asyncio.run(send(daemon.grpc, bodies[:20], concurrency=4, rate=RATE))
        done = asyncio.run(send(daemon.grpc, bodies, concurrency=16, rate=RATE))
        if settings:
            _wait_for_calls(daemon, log, before)
    return done


def _wait_for_calls(daemon: ChildDaemon, log: Path, before: int) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while _lines(log) == before and time.monotonic() < deadline:
        time.sleep(0.2)
    progress(f"{_lines(log) - before} calls, then {daemon.get('status')['judge']}")


def _lines(log: Path) -> int:
    return log.read_text("ascii").count("\n") if log.exists() else 0
