"""Text of a service that would forge lines, colours and directions is shown, never obeyed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from secrets import token_bytes

import httpx2
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from typer.testing import CliRunner

from ragvigil.app.cli.main import app
from ragvigil.app.demo.child_daemon import ChildDaemon, running
from ragvigil.model.issue import IssueState, RootCause
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import root_causes
from tests.issues import DAY, NANOS, NOW, failure, issue, keep
from tests.patience import PATIENCE_SECONDS
from tests.served_api import commands
from tests.served_issues import served

pytestmark = pytest.mark.slow

HOSTILE = (
    "x\x1b[2J\x1b]8;;http://a\x07\x9b31m\r\u202e\u2066\u200b\u2028\x85"
    "\nFORGED a line [red]loud[/red] :bomb:\r\nFORGED another\u2029FORGED"
)
COMMANDS = (
    ("status",), ("deltas",), ("doctor",), ("why",), ("topics",), ("issues", "list"),
    ("issues", "pairs"), ("incidents", "list"), ("golden", "list"), ("labels", "list"),
    ("labels", "judges"),
)  # fmt: skip


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChildDaemon]:
    with running(tmp_path_factory.mktemp("hostile")) as started:
        yield started


def hostile_request(trace_id: bytes) -> bytes:
    """A RAG trace whose every text is hostile."""
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    for key in ("service.name", "service.version", "deployment.environment.name"):
        resource.resource.attributes.add(key=key).value.string_value = HOSTILE
    scope = resource.scope_spans.add()
    scope.scope.name = HOSTILE
    root, now = token_bytes(8), time.time_ns()
    document = "retrieval.documents.0.document."
    for span_id, parent, kind, attributes in (
        (root, b"", "CHAIN", {"http.route": HOSTILE, "ragvigil.tenant": HOSTILE}),
        (token_bytes(8), root, "RETRIEVER",
         {f"{document}id": HOSTILE, f"{document}content": HOSTILE}),
        (token_bytes(8), root, "LLM", {
            "llm.model_name": HOSTILE,
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": HOSTILE,
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": f'It says "{HOSTILE}" [{HOSTILE}] [9].',
        }),
    ):  # fmt: skip
        span = scope.spans.add(trace_id=trace_id, span_id=span_id, parent_span_id=parent)
        span.name = HOSTILE
        span.start_time_unix_nano, span.end_time_unix_nano = now, now + 1_000_000
        attributes |= {"openinference.span.kind": kind, "input.value": HOSTILE}
        for key, value in attributes.items():
            span.attributes.add(key=key).value.string_value = value
    return request.SerializeToString()


def is_clean(output: str) -> bool:
    """Whether an output has glyphs and our own line ends only, and no line of the service's."""
    lines = output.split("\n")
    return all(line.isprintable() and not line.lstrip().startswith("FORGED") for line in lines)


def test_no_command_metric_or_log_obeys_a_span(daemon: ChildDaemon, tmp_path: Path) -> None:
    trace_id = token_bytes(16)
    headers = {"content-type": "application/x-protobuf"}
    url = f"http://{daemon.http}/v1/traces"
    httpx2.post(url, content=hostile_request(trace_id), headers=headers).raise_for_status()
    api = f"http://{daemon.web}/api/v1/traces/{trace_id.hex()}"
    deadline = time.monotonic() + PATIENCE_SECONDS
    while httpx2.get(api).status_code != 200 and time.monotonic() < deadline:
        time.sleep(0.1)
    config = tmp_path / "ragvigil.toml"
    config.write_text(f'[web]\nendpoint = "{daemon.web}"\n')
    for command in (*COMMANDS, ("trace", trace_id.hex())):
        done = CliRunner().invoke(app, [*command, "--config", str(config)])
        assert done.exit_code == 0, (command, done.output)
        assert is_clean(done.output), (command, done.output)
        if command[0] == "trace":
            assert r"x\x1b[2J" in done.output
            assert "[red]loud[/red] :bomb:" in done.output
        as_json = CliRunner().invoke(app, [*command, "--json", "--config", str(config)])
        assert is_clean(as_json.output), command
    exposed = httpx2.get(f"http://{daemon.metrics}/metrics").text
    assert {char for char in exposed if not char.isprintable()} == {"\n"}
    log = (daemon.data_dir / "daemon.log").read_text()
    assert is_clean(log)


def test_issues_incidents_and_causes_are_shown_not_obeyed(store: Store, tmp_path: Path) -> None:
    failing = [
        failure(10 + n, ago=DAY * (n % 3), service=HOSTILE, route=HOSTILE, reason=HOSTILE,
                question=HOSTILE)
        for n in range(22)
    ]  # fmt: skip
    keep(store, failing, issue("i1", members=22, state=IssueState.REGRESSED, name=HOSTILE,
                               service=HOSTILE, routes=(HOSTILE,)))  # fmt: skip
    cause = RootCause(
        issue_id="i1", time_unix_nano=NOW * NANOS, by=HOSTILE, ended="submitted", cause=HOSTILE,
        fix=HOSTILE,
    )  # fmt: skip
    store.write(root_causes.batch(cause, NOW * NANOS))
    with commands(served(store, tmp_path), tmp_path) as daemon:
        for command in (("issues", "list"), ("issues", "show", "i1"), ("issues", "ack", "i1")):
            shown = daemon.say(*command)
            assert is_clean(shown), (command, shown)
            assert r"x\x1b[2J" in shown
        page = httpx2.get(f"http://127.0.0.1:{daemon.port}/issues/i1").text
        assert not set(page) & set("\x1b\u202e\u2066\u200b\u2028\x85\x9b")
