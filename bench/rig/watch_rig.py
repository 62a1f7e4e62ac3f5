"""Everything that a rehearsal needs, as real processes at one clock: the example service and those
who ask it, a judge that reads texts, the daemon, Prometheus, Alertmanager, and who is paged.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest

from alerts.signals.settings import MovedSettings
from bench.rig.judge_stand_in import standing_in
from ragvigil.app.demo.child_daemon import ChildDaemon, free_port, running
from ragvigil.app.demo.processes import Child, service_environment
from ragvigil.app.process.tied import start_tied
from ragvigil.model.clock import VARIABLE, Pace
from tests.monitoring import tool

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / "alerts" / "rules"
REQUESTS_AN_HOUR, SAMPLE_RATE = 400.0, 0.07
MEASURES = [measure for measure in MovedSettings().measures if measure != "seconds_total"]
"""How long an answer takes is the machine's time, not the daemon's, and this machine is shared."""
DURATION = re.compile(r"(?P<before>(?:for|interval): |\[|offset )(?P<n>\d+)(?P<unit>[smhd])\b")
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
SCRAPE_SECONDS = 15.0
LEAST_SCRAPE_MS, LEAST_EVALUATION_MS = 500, 500


class Missing(Exception):
    """A program that the rehearsal needs is not here, and cannot be had."""


def program(name: str) -> str:
    """Path of `prometheus` or `alertmanager`. Raises Missing."""
    try:
        return tool(name)
    except pytest.skip.Exception as error:
        raise Missing(str(error)) from error


def hastened(text: str, factor: float) -> str:
    """A rule file whose durations pass `factor` times as fast.

    >>> hastened("for: 5m", 60)
    'for: 5000ms'
    >>> hastened("rate(x[1h])", 3600)
    'rate(x[1000ms])'
    >>> hastened("predict_linear(x[2h], 4 * 3600) < 0", 60)
    'predict_linear(x[120000ms], 4 * 60) < 0'
    """

    def shorter(found: re.Match[str]) -> str:
        milliseconds = int(found["n"]) * SECONDS[found["unit"]] * 1000 / factor
        return f"{found['before']}{max(1000, round(milliseconds))}ms"

    return DURATION.sub(shorter, text.replace("* 3600", f"* {max(1, round(3600 / factor))}"))


@dataclass(slots=True)
class Pager:
    """What Alertmanager sends, with the daemon's time at which it came."""

    clock: Pace
    received: list[dict[str, Any]] = field(default_factory=list)

    def take(self, body: dict[str, Any]) -> None:
        """Keeps the alerts of a notification."""
        for alert in body["alerts"]:
            self.received.append(alert | {"at": self.clock.now()})

    def pages(self) -> dict[str, dict[str, Any]]:
        """The first firing alert of each incident that paged."""
        found: dict[str, dict[str, Any]] = {}
        for alert in self.received:
            labels = alert["labels"]
            if alert["status"] == "firing" and labels.get("severity") == "page":
                found.setdefault(labels.get("incident") or labels["alertname"], alert)
        return found

    def is_cleared(self, incident: str) -> bool:
        """Whether the last word on an incident is that it is over."""
        said = [
            alert["status"]
            for alert in self.received
            if alert["labels"].get("incident") == incident
        ]
        return bool(said) and said[-1] == "resolved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rig:
    """The running rehearsal."""

    clock: Pace
    daemon: ChildDaemon
    service: str
    pager: Pager

    def fault(self, name: str, *, on: bool) -> None:
        """Switches a fault of the service on all routes."""
        method = "PUT" if on else "DELETE"
        httpx2.request(method, f"{self.service}/admin/faults/{name}", timeout=10).raise_for_status()

    def wait(self, minutes: float) -> None:
        """Lets so much of the daemon's time pass."""
        time.sleep(minutes * 60 / self.clock.factor)


@contextlib.contextmanager
def rehearsal(folder: Path, clock: Pace, *, seed: int) -> Iterator[Rig]:
    """Runs everything on the daemon's data in `folder / "data"`; all of it is ended on the way out.

    Raises Missing.
    """
    prometheus, alertmanager = program("prometheus"), program("alertmanager")
    pager = Pager(clock)
    settings = {VARIABLE: f"{clock.factor}@{clock.origin}"}
    with contextlib.ExitStack() as stack:
        enter = stack.enter_context
        judge = enter(standing_in(seconds=0.2, gives_way=True))
        daemon = enter(running(folder / "data", settings=settings | _judging(judge)))
        hook = enter(_receiving(pager))
        managed = enter(_alertmanager(folder, alertmanager, hook, clock.factor))
        enter(_prometheus(folder, prometheus, daemon.metrics, managed, clock.factor))
        service = enter(_service(folder, daemon, settings))
        enter(_traffic(folder, service, clock.factor, seed))
        yield Rig(clock=clock, daemon=daemon, service=service, pager=pager)


def _judging(address: str) -> dict[str, str]:
    return {
        "RAGVIGIL_JUDGE__MODEL": "openai:stand-in",
        "RAGVIGIL_JUDGE__BASE_URL": f"{address}/v1",
        "RAGVIGIL_JUDGE__KEY": "none",
        "RAGVIGIL_JUDGE__SAMPLE_RATE": str(SAMPLE_RATE),
        "RAGVIGIL_ALERTS__MOVED__MEASURES": json.dumps(MEASURES),
        # Its hours would come by the minute, and take the machine from the judge that gives way.
        "RAGVIGIL_CLUSTERING__ENABLED": "false",
        "RAGVIGIL_CLUSTERING__TOPICS__QUESTIONS_PER_DAY": "0",
    }


@contextlib.contextmanager
def _receiving(pager: Pager) -> Iterator[str]:
    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            pager.take(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Says nothing: standard error is for progress."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()


@contextlib.contextmanager
def _alertmanager(folder: Path, command: str, hook: str, factor: float) -> Iterator[str]:
    config = folder / "alertmanager.yml"
    wait = f"{max(1000, round(30_000 / factor))}ms"
    config.write_text(
        "route:\n  receiver: hook\n  group_by: [alertname, incident]\n"
        f"  group_wait: {wait}\n  group_interval: {wait}\n  repeat_interval: 24h\n"
        f"receivers:\n- name: hook\n  webhook_configs:\n  - url: {hook}\n    send_resolved: true\n",
        encoding="utf-8",
    )
    address = f"127.0.0.1:{free_port()}"
    options = (
        f"--config.file={config}",
        f"--storage.path={folder / 'alertmanager'}",
        f"--web.listen-address={address}",
        "--cluster.listen-address=",
    )
    with _process(folder, "alertmanager", [command, *options]):
        yield address


@contextlib.contextmanager
def _prometheus(
    folder: Path, command: str, target: str, alertmanager: str, factor: float
) -> Iterator[None]:
    rules = folder / "rules"
    rules.mkdir(exist_ok=True)
    for path in RULES.glob("*.yml"):
        (rules / path.name).write_text(hastened(path.read_text("utf-8"), factor), encoding="utf-8")
    scrape = max(LEAST_SCRAPE_MS, round(SCRAPE_SECONDS * 1000 / factor))
    config = folder / "prometheus.yml"
    config.write_text(
        f"global: {{scrape_interval: {scrape}ms, scrape_timeout: {scrape}ms, "
        f"evaluation_interval: {max(LEAST_EVALUATION_MS, scrape)}ms}}\n"
        f"rule_files: ['{rules}/*.yml']\n"
        f"alerting: {{alertmanagers: [{{static_configs: [{{targets: ['{alertmanager}']}}]}}]}}\n"
        "scrape_configs:\n- job_name: ragvigil\n"
        f"  static_configs: [{{targets: ['{target}']}}]\n",
        encoding="utf-8",
    )
    options = (
        f"--config.file={config}",
        f"--storage.tsdb.path={folder / 'prometheus'}",
        f"--web.listen-address=127.0.0.1:{free_port()}",
        "--rules.alert.resend-delay=2s",
    )
    with _process(folder, "prometheus", [command, *options]):
        yield


@contextlib.contextmanager
def _process(folder: Path, name: str, command: list[str]) -> Iterator[None]:
    with (folder / f"{name}.log").open("ab") as log:
        process = start_tied(command, stdout=log, stderr=log)
    try:
        yield
        if process.poll() is not None:
            raise RuntimeError(f"{name} ended: {(folder / f'{name}.log').read_text()[-1000:]}")
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def _service(folder: Path, daemon: ChildDaemon, settings: dict[str, str]) -> Iterator[str]:
    port = free_port()
    child = Child(
        ["bench/rig/watch_service.py", "--port", str(port), "--to", f"http://{daemon.http}"],
        env=service_environment("http://127.0.0.1:9") | settings | {"PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        log=folder / "service.log",
    )
    with child:
        url = f"http://127.0.0.1:{port}"
        child.wait_for(f"{url}/healthz", seconds=90, sleep=time.sleep)
        yield url


@contextlib.contextmanager
def _traffic(folder: Path, service: str, factor: float, seed: int) -> Iterator[None]:
    rate = REQUESTS_AN_HOUR / 3600 * factor
    options = ("--url", service, "--rate", f"{rate:.3f}", "--seed", str(seed))
    with Child(
        ["-m", "examples.helpdesk.traffic", *options],
        env=dict(os.environ),
        cwd=ROOT,
        log=folder / "traffic.log",
    ):
        yield


if __name__ == "__main__":
    sys.exit("this is a part of bench/watch.py")
