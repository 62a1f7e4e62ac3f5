"""Acknowledgement of spans by a daemon with a judge, beside one without, run by turns."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import otlp_requests
from ingest import Sent, send
from judge_stand_in import standing_in
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from report import progress

from ragvigil.app.child_daemon import ChildDaemon, running

RATE = 40.0
"""Requests a second, one trace each."""
MOST_RATIO, MOST_MORE_MS = 1.2, 5.0
WAIT_SECONDS = 60.0


def single_traces(count: int, *, seed: int) -> list[bytes]:
    """As many requests of one trace each."""
    per = otlp_requests.TRACES_A_REQUEST
    whole = otlp_requests.make((count + per - 1) // per * per, seed=seed)
    return [one for body in whole for one in _split(body)][:count]


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
    return [one.SerializeToString() for one in traces.values()]


def judging(address: str) -> dict[str, str]:
    """Settings of a daemon that judges every record at once."""
    return {
        "RAGVIGIL_JUDGE__MODEL": "openai:stand-in",
        "RAGVIGIL_JUDGE__BASE_URL": f"{address}/v1",
        "RAGVIGIL_JUDGE__KEY": "none",
        "RAGVIGIL_JUDGE__ALLOW": "true",
        "RAGVIGIL_JUDGE__SAMPLE_RATE": "1",
        "RAGVIGIL_JUDGE__WAIT_SECONDS": "0",
    }


def latency(seed: int, *, small: bool) -> dict[str, object]:
    """p99 of the acknowledgement of each run, and what was judged meanwhile."""
    runs, requests = (1, 80) if small else (5, 800)
    p99: dict[str, list[float]] = {"off": [], "on": []}
    calls = sent = 0
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "calls"
        with standing_in(seconds=0.2, log=log, gives_way=True) as address:
            for number in range(runs):
                for name in ("off", "on") if number % 2 == 0 else ("on", "off"):
                    bodies = single_traces(requests, seed=seed + number)
                    settings = judging(address) if name == "on" else {}
                    done = _acknowledged(Path(folder) / f"{name}{number}", settings, bodies, log)
                    p99[name].append(round(done.p99(), 2))
                    sent += len(done.latencies)
                    progress(f"run {number + 1}, judge {name}: p99 {p99[name][-1]} ms")
        calls = len(log.read_text("ascii").splitlines())
    off, on = (statistics.median(p99[name]) for name in ("off", "on"))
    return {
        "requests": sent,
        "requests_expected": 2 * runs * requests,
        "rate": RATE,
        "p99_ms_off": p99["off"],
        "p99_ms_on": p99["on"],
        "median_ms_off": off,
        "median_ms_on": on,
        "allowed_ms": round(MOST_RATIO * off + MOST_MORE_MS, 2),
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
