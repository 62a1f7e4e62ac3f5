"""From an incident to the pager, through a real Prometheus and a real Alertmanager.

The rules and the configuration are those that are shipped; only waits and addresses are changed.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Gauge, start_http_server

from alerts.incidents.message import Message, lines
from alerts.settings import MetricsSettings
from alerts.watch.metrics import WatchMetrics
from ragvigil.app.demo.child_daemon import free_port
from ragvigil.app.process.tied import start_tied
from ragvigil.model.incident import Incident, IncidentState, Severity
from ragvigil.model.notice import Cause
from tests.monitoring import tool
from tests.patience import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[2]
QUIET_SECONDS = 4.0
"""Several scrapes, evaluations and group intervals, of a second each."""


TEXT = Message(
    worse="groundedness fell by 10 points [5, 15] to 0.72, n 200",
    since="Sat 21 Nov 09:40 UTC",
    routes='/refunds "a\\b", <!channel> (desk prod)',
    changed="re-chunked on /refunds; coincides, 2 min before",
    cause="retrieval; look at chunker, embedder",
    traces=", ".join(f"{number:032x}" for number in range(5)),
    link="https://watch.example/incidents/i1",
)
"""The route holds what YAML, Go and chats care for."""
SIX_LINES = "\n".join(lines(TEXT))


@dataclass(slots=True)
class People:
    """A pager and a chat that write down what they are told."""

    told: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def pages(self, action: str) -> list[dict[str, Any]]:
        """What the pager was told: `trigger` or `resolve`."""
        return [
            body for path, body in self.told if path == "/pager" if body["event_action"] == action
        ]

    def chats(self) -> list[str]:
        """Title and text of each message of the chat."""
        return [
            f"{attachment['title']}\n{attachment['text']}"
            for path, body in self.told
            if path == "/chat"
            for attachment in body["attachments"]
        ]

    @contextmanager
    def listen(self) -> Iterator[int]:
        """The port that they listen on."""
        told = self.told

        class Listener(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                told.append((self.path, json.loads(body)))
                self.send_response(202 if self.path == "/pager" else 200)
                self.end_headers()
                self.wfile.write(b'{"status": "success"}' if self.path == "/pager" else b"ok")

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Listener)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            server.server_close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """What is exposed, and who is told."""

    watch: WatchMetrics
    core_up: Gauge
    people: People


@contextmanager
def running(folder: Path, *command: str) -> Iterator[None]:
    with (folder / "log").open("wb") as log:
        process = start_tied(command, cwd=folder, stdout=log, stderr=log)
    try:
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)


def quick(text: str) -> str:
    """Rules or configuration with waits of a second."""
    text = re.sub(r"(?m)^(\s+)for: .*$", r"\1for: 0s", text)
    return re.sub(r"(keep_firing_for|group_wait|group_interval): .*", r"\1: 1s", text)


def start_alertmanager(folder: Path, people: int, port: int) -> tuple[str, ...]:
    deploy = ROOT / "deploy" / "alertmanager"
    config = quick((deploy / "alertmanager.yml").read_text(encoding="utf-8"))
    config = config.replace(
        "- routing_key:", f"- url: http://127.0.0.1:{people}/pager\n        routing_key:"
    )
    config = config.replace(
        "https://hooks.slack.com/services/REPLACE_ME", f"http://127.0.0.1:{people}/chat"
    )
    (folder / "alertmanager.yml").write_text(config, encoding="utf-8")
    template = (deploy / "ragvigil.tmpl").read_text(encoding="utf-8")
    (folder / "ragvigil.tmpl").write_text(template, encoding="utf-8")
    return (
        tool("alertmanager"),
        "--config.file=alertmanager.yml",
        f"--web.listen-address=127.0.0.1:{port}",
        "--cluster.listen-address=",
        "--storage.path=data",
    )


def start_prometheus(folder: Path, daemon: int, alertmanager: int) -> tuple[str, ...]:
    rules = sorted((ROOT / "alerts" / "rules").glob("*.yml"))
    for path in rules:
        text = quick(path.read_text(encoding="utf-8"))
        (folder / path.name).write_text(text.replace("interval: 1m", ""), encoding="utf-8")
    config = {
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
        "rule_files": [path.name for path in rules],
        "scrape_configs": [
            {"job_name": "ragvigil", "static_configs": [{"targets": [f"127.0.0.1:{daemon}"]}]}
        ],
        "alerting": {
            "alertmanagers": [{"static_configs": [{"targets": [f"127.0.0.1:{alertmanager}"]}]}]
        },
    }
    (folder / "prometheus.yml").write_text(json.dumps(config), encoding="utf-8")
    return (
        tool("prometheus"),
        "--config.file=prometheus.yml",
        f"--web.listen-address=127.0.0.1:{free_port()}",
        "--storage.tsdb.path=data",
        "--rules.alert.resend-delay=1s",
    )


@pytest.fixture
def chain(tmp_path: Path) -> Iterator[Chain]:
    registry = CollectorRegistry()
    watch = WatchMetrics(MetricsSettings(), time.time)
    registry.register(watch)
    core_up = Gauge("ragvigil_core_up", "As the daemon exposes it.", registry=registry)
    core_up.set(1)
    people, daemon, alertmanager = People(), free_port(), free_port()
    with ExitStack() as stack:
        server, _ = start_http_server(daemon, "127.0.0.1", registry)
        stack.callback(server.shutdown)
        ears = stack.enter_context(people.listen())
        for name, command in (
            ("alertmanager", lambda at: start_alertmanager(at, ears, alertmanager)),
            ("prometheus", lambda at: start_prometheus(at, daemon, alertmanager)),
        ):
            folder = tmp_path / name
            folder.mkdir()
            stack.enter_context(running(folder, *command(folder)))
        yield Chain(watch=watch, core_up=core_up, people=people)


def until(is_so: Callable[[], object]) -> None:
    ends = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < ends, "nobody was told in time"
        time.sleep(0.1)


def incident(name: str, severity: Severity, cause: Cause | None = None) -> Incident:
    return Incident(
        incident_id=name, service="desk", environment="prod", state=IncidentState.OPEN,
        severity=severity, opened_unix_nano=1, since_unix_nano=1, findings=(), cause=cause,
    )  # fmt: skip


def test_one_incident_is_one_page_of_six_lines_and_then_resolved(chain: Chain) -> None:
    people = chain.people
    chain.watch.show_incidents([incident("i1", Severity.PAGE)], {"i1": TEXT})
    until(lambda: people.pages("trigger"))
    chain.watch.show_incidents([incident("i1", Severity.PAGE, Cause.RETRIEVAL)], {"i1": TEXT})
    time.sleep(QUIET_SECONDS)
    (page,) = people.pages("trigger")
    assert len(SIX_LINES.splitlines()) == 6
    assert page["payload"]["custom_details"]["message"] == SIX_LINES
    assert page["payload"]["summary"] == f"desk (prod): {TEXT.worse}"
    assert page["payload"]["severity"] == "critical"
    assert page["client_url"] == TEXT.link

    chain.watch.show_incidents([], {})
    until(lambda: people.pages("resolve"))
    time.sleep(QUIET_SECONDS)
    (resolved,) = people.pages("resolve")
    assert resolved["dedup_key"] == page["dedup_key"]
    assert len(people.pages("trigger")) == 1
    assert people.chats() == []


def test_a_page_that_nobody_watches_holds_tickets_back_and_the_test_reaches_the_pager(
    chain: Chain,
) -> None:
    people = chain.people
    chain.core_up.set(0)
    until(lambda: people.pages("trigger"))
    chain.watch.show_incidents([incident("i2", Severity.TICKET)], {"i2": TEXT})
    time.sleep(QUIET_SECONDS)
    (page,) = people.pages("trigger")
    assert "the core is down" in page["payload"]["summary"]
    assert people.chats() == []

    chain.core_up.set(1)
    until(people.chats)
    assert people.chats()[0] == f"desk (prod): {TEXT.worse}\n{SIX_LINES}".replace(
        "<!channel>", "!channel"
    )

    chain.watch.test_alert(time.time() + 300)
    until(lambda: len(people.pages("trigger")) == 2)
    told = people.pages("trigger")[1]["payload"]
    assert told["severity"] == "info"
    assert "nothing is wrong" in told["summary"]
