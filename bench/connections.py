"""Idle and half-sent connections by the thousand, while real exporters send: nobody is shut out.

    .venv/bin/python bench/connections.py [--small]

A daemon gets few descriptors, as a hard limit. Clients connect to all its listeners, send nothing,
half a header, half a body, half a handshake or half a gRPC call, and connect again when they are
closed. Meanwhile exporters of the SDK send over kept and over new connections, and a probe asks for
`/healthz` ten times a second, on a new connection each time.
"""

from __future__ import annotations

import resource
import statistics
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from bench.rig.options import size_parser
from bench.rig.report import finish, progress
from bench.rig.steady_exporters import Exported, steady_exporters
from ragvigil.app.demo.child_daemon import ChildDaemon, start
from tests.silent_clients import silent_clients

MOST_LINES = 20
SPANS_A_SECOND = 100
SETTLE_SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much of everything."""

    connections: int
    descriptors: int
    seconds: float
    patience_seconds: float


FULL = Size(connections=2_000, descriptors=1_024, seconds=60, patience_seconds=10)
"""10 s is what the SDK's exporters have by default."""
SMALL = Size(connections=600, descriptors=512, seconds=8, patience_seconds=60)


@dataclass
class Probe:
    """Asks an address again and again, on a new connection each time."""

    url: str
    every_seconds: float
    patience_seconds: float
    seconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def run(self, stop: threading.Event) -> None:
        """Asks until `stop`."""
        while not stop.wait(self.every_seconds):
            started = time.monotonic()
            try:
                status = httpx2.get(self.url, timeout=self.patience_seconds).status_code
            except httpx2.HTTPError as error:
                self.failures.append(repr(error))
                continue
            self.seconds.append(time.monotonic() - started)
            if status != 200:
                self.failures.append(str(status))

    def p99_ms(self) -> float:
        """99th percentile of the answers, ms."""
        return round(statistics.quantiles(self.seconds, n=100)[98] * 1e3, 1)


def besiege(daemon: ChildDaemon, size: Size, probes: list[Probe]) -> tuple[list[Exported], int]:
    """What became of the exporters' spans, and how many connections were opened meanwhile."""
    stop = threading.Event()
    threads = [threading.Thread(target=probe.run, args=(stop,)) for probe in probes]
    http = [daemon.http, daemon.metrics, daemon.web]
    with (
        silent_clients(http=http, grpc=[daemon.grpc], count=size.connections) as silent,
        steady_exporters(
            daemon.grpc,
            daemon.http,
            spans_a_second=SPANS_A_SECOND,
            timeout=size.patience_seconds,
        ) as senders,
    ):
        for thread in threads:
            thread.start()
        ends = time.monotonic() + size.seconds
        while time.monotonic() < ends:
            time.sleep(min(5.0, size.seconds))
            progress(f"{silent.open} silent connections open, {silent.opened} opened so far")
        stop.set()
        for thread in threads:
            thread.join()
    return [sender.exported for sender in senders], silent.opened


def settled(daemon: ChildDaemon, spans: int) -> dict[str, int]:
    """The ledger's counts of spans once `spans` are stored, or after SETTLE_SECONDS."""
    ends = time.monotonic() + SETTLE_SECONDS
    while True:
        ledger = dict(daemon.get("ledger")["spans"])
        if ledger["stored"] >= spans or time.monotonic() > ends:
            return ledger
        time.sleep(0.5)


def lines(daemon: ChildDaemon) -> int:
    """Lines in the daemon's log."""
    return len((daemon.data_dir / "daemon.log").read_bytes().splitlines())


def main() -> None:
    parser = size_parser(__doc__)
    size = SMALL if parser.parse_args().small else FULL
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory() as folder:
        daemon = start(Path(folder))
        resource.prlimit(
            daemon.process.pid, resource.RLIMIT_NOFILE, (size.descriptors // 2, size.descriptors)
        )
        try:
            figures, bars = measure(daemon, size)
        finally:
            daemon.stop()
    finish("connections", figures, bars, seed=0)


def measure(daemon: ChildDaemon, size: Size) -> tuple[dict[str, object], dict[str, bool]]:
    """Runs the siege; the figures and the bars."""
    daemon.wait_ready()
    before = lines(daemon)
    patience = size.patience_seconds
    health = Probe(f"http://{daemon.metrics}/healthz", 0.1, patience)
    metrics = Probe(f"http://{daemon.metrics}/metrics", 1.0, patience)
    web = Probe(f"http://{daemon.web}/api/v1/ledger", 1.0, patience)
    exported, opened = besiege(daemon, size, [health, metrics, web])
    written = lines(daemon) - before
    accepted = sum(each.accepted for each in exported)
    refused = sum(each.refused for each in exported)
    ledger = settled(daemon, accepted)
    for probe in (health, metrics, web):
        for failure in probe.failures[:3]:
            progress(f"{probe.url}: {failure}")
    exports = [seconds for each in exported for seconds in each.seconds]
    figures: dict[str, object] = {
        "connections": size.connections,
        "descriptors": size.descriptors,
        "connections_opened": opened,
        "spans_accepted": accepted,
        "spans_refused": refused,
        "slowest_export_s": round(max(exports), 2),
        "health_answers": len(health.seconds),
        "health_p99_ms": health.p99_ms(),
        "metrics_p99_ms": metrics.p99_ms() if len(metrics.seconds) > 1 else None,
        "web_p99_ms": web.p99_ms() if len(web.seconds) > 1 else None,
        "log_lines": written,
        "ledger": ledger,
    }
    bars = {
        "0 refused spans": refused == 0 and accepted > 0,
        "every accepted span is stored": ledger["stored"] == accepted,
        "health always answers": not health.failures,
        "metrics always answer": not metrics.failures,
        "the web always answers": not web.failures,
        f"<= {MOST_LINES} lines of log": written <= MOST_LINES,
    }
    return figures, bars


if __name__ == "__main__":
    main()
