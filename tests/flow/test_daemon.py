"""The daemon as its user meets it: started, sent to, killed, stopped, started twice."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from ragvigil.app.demo.child_daemon import ChildDaemon, free_port, running, start
from ragvigil.app.process.tied import run_tied, start_tied
from ragvigil.inference.process_priority import BEHIND_THE_INTAKE
from tests.patience import PATIENCE_SECONDS

CHUNK = "Refunds are paid to the original payment method. Card refunds take 5 to 7 business days."


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChildDaemon]:
    with running(tmp_path_factory.mktemp("daemon")) as started:
        yield started


def ask(daemon: ChildDaemon, quote: str, route: str = "/ask") -> str:
    """Sends one answer with a quotation through the SDK; returns its trace id."""
    provider = TracerProvider(resource=Resource.create({"service.name": "flow"}))
    exporter = OTLPSpanExporter(endpoint=f"http://{daemon.grpc}", insecure=True)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("flow")
    question, answer = "How long do card refunds take?", f'It says "{quote}" [refund-02].'
    root = {"openinference.span.kind": "CHAIN", "http.route": route, "input.value": question}
    with tracer.start_as_current_span("ask", attributes={**root, "output.value": answer}) as span:
        retriever = {
            "openinference.span.kind": "RETRIEVER",
            "input.value": question,
            "retrieval.documents.0.document.id": "refund-02",
            "retrieval.documents.0.document.content": CHUNK,
        }
        with tracer.start_as_current_span("retrieve", attributes=retriever):
            pass
        llm = {
            "openinference.span.kind": "LLM",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": f"{question}\n\n[refund-02] {CHUNK}",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": answer,
        }
        with tracer.start_as_current_span("llm", attributes=llm):
            pass
    provider.shutdown()
    return format(span.get_span_context().trace_id, "032x")


def look_up(
    daemon: ChildDaemon, trace_id: str, seconds: float = PATIENCE_SECONDS
) -> dict[str, object]:
    """The trace once it is stored."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        reply = httpx2.get(
            f"http://{daemon.web}/api/v1/traces/{trace_id}", timeout=PATIENCE_SECONDS
        )
        if reply.status_code == 200:
            return dict(reply.json())
        time.sleep(0.1)
    raise AssertionError(f"{trace_id} was not stored: {daemon.last_lines()}")


def scores_of(trace: dict[str, object]) -> dict[str, dict[str, object]]:
    records = trace["records"]
    assert isinstance(records, list)
    assert len(records) == 1
    return {score["rubric"]: score for score in records[0]["scores"]}


def test_the_intake_has_the_cpu_before_the_core(daemon: ChildDaemon) -> None:
    core = int((daemon.data_dir / "core.lock").read_text())
    intake, behind = (os.getpriority(os.PRIO_PROCESS, pid) for pid in (daemon.process.pid, core))
    # The tests may run under `nice`, and 19 is the last there is.
    assert behind == min(19, intake + BEHIND_THE_INTAKE)


def test_a_true_quotation_scores_one(daemon: ChildDaemon) -> None:
    trace = look_up(daemon, ask(daemon, "Card refunds take 5 to 7 business days."))
    score = scores_of(trace)["citation_validity"]
    assert (score["value"], score["layer"]) == (1.0, "cross_cutting")


def test_an_invented_quotation_is_named(daemon: ChildDaemon) -> None:
    trace = look_up(daemon, ask(daemon, "All refunds are doubled on request of the customer."))
    score = scores_of(trace)["citation_validity"]
    assert score["value"] == 0.0
    assert score["label"] == "quote_not_found"


def test_the_record_says_what_was_asked_shown_and_cited(daemon: ChildDaemon) -> None:
    trace = look_up(daemon, ask(daemon, "Card refunds take 5 to 7 business days.", "/refunds/42"))
    records = trace["records"]
    assert isinstance(records, list)
    record = records[0]
    assert record["query"] == "How long do card refunds take?"
    assert [chunk["content"] for chunk in record["context"]] == [CHUNK]
    assert record["citations"][0]["document_id"] == "refund-02"
    assert record["route"] == "/refunds/{number}"


def test_the_books_balance(daemon: ChildDaemon) -> None:
    look_up(daemon, ask(daemon, "Card refunds take 5 to 7 business days."))
    spans = daemon.get("ledger")["spans"]
    assert spans["acknowledged"] > 0
    assert spans["acknowledged"] == (
        spans["stored"] + spans["duplicate"] + spans["quarantined"] + spans["in_spool"]
    )


def test_metrics_of_both_processes_are_one_exposition(daemon: ChildDaemon) -> None:
    from prometheus_client.parser import text_string_to_metric_families

    look_up(daemon, ask(daemon, "Card refunds take 5 to 7 business days."))
    text = httpx2.get(f"http://{daemon.metrics}/metrics", timeout=PATIENCE_SECONDS).text
    families = [family.name for family in text_string_to_metric_families(text)]
    assert len(families) == len(set(families))
    assert {"ragvigil_core_up", "ragvigil_score_count"} <= set(families)


def run_daemon(**variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a daemon that is expected to refuse."""
    command = [sys.executable, "-m", "ragvigil.app.daemon"]
    return run_tied(command, seconds=PATIENCE_SECONDS, env={**os.environ, **variables})


def test_a_second_daemon_on_the_same_directory_refuses_in_one_line(daemon: ChildDaemon) -> None:
    done = run_daemon(RAGVIGIL_DATA_DIR=str(daemon.data_dir))
    assert done.returncode != 0
    assert len(done.stderr.strip().splitlines()) == 1
    assert "is in use by another ragvigil daemon" in done.stderr


def test_a_taken_port_is_named_by_its_setting(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        endpoint = f"127.0.0.1:{taken.getsockname()[1]}"
        done = run_daemon(
            RAGVIGIL_DATA_DIR=str(tmp_path),
            RAGVIGIL_COLLECTOR__GRPC_ENDPOINT=f"127.0.0.1:{free_port(0)}",
            RAGVIGIL_COLLECTOR__HTTP_ENDPOINT=endpoint,
        )
    assert done.returncode != 0
    assert done.stderr.startswith(f"[collector] http_endpoint: {endpoint} is already in use")
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.slow
def test_a_killed_core_comes_back_and_nothing_is_lost(tmp_path: Path) -> None:
    with running(tmp_path) as started:
        first = ask(started, "Card refunds take 5 to 7 business days.")
        look_up(started, first)
        os.kill(int((tmp_path / "core.lock").read_text()), signal.SIGKILL)
        second = ask(started, "Card refunds take 5 to 7 business days.")
        started.wait_ready()
        look_up(started, second)
        assert started.get("ledger")["spans"]["stored"] == 6


def test_spans_survive_a_killed_intake(tmp_path: Path) -> None:
    started = start(tmp_path)
    started.wait_ready()
    trace_id = ask(started, "Card refunds take 5 to 7 business days.")
    started.process.kill()
    started.process.wait()
    with running(tmp_path) as again:
        assert scores_of(look_up(again, trace_id))


def test_sigterm_ends_with_status_zero(tmp_path: Path) -> None:
    started = start(tmp_path)
    started.wait_ready()
    assert started.stop(deadline_seconds=25) == 0


@pytest.mark.parametrize("command", ["run", "check", "migrate"])
@pytest.mark.parametrize("below", ["", "data"])
def test_a_data_dir_that_can_be_no_folder_is_refused_in_one_line(
    tmp_path: Path, command: str, below: str
) -> None:
    (tmp_path / "file").touch()
    program = [sys.executable, "-m", "ragvigil.app.cli.main", command]
    environment = {**os.environ, "RAGVIGIL_DATA_DIR": str(tmp_path / "file" / below)}
    done = run_tied(program, seconds=PATIENCE_SECONDS, env=environment)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert str(tmp_path / "file") in done.stderr
    assert "RAGVIGIL_DATA_DIR" in done.stderr


@pytest.mark.parametrize("command", ["run", "check"])
def test_one_port_for_two_listeners_is_refused_in_one_line(tmp_path: Path, command: str) -> None:
    program = [sys.executable, "-m", "ragvigil.app.cli.main", command]
    variables = {
        "RAGVIGIL_DATA_DIR": str(tmp_path),
        "RAGVIGIL_WEB__ENDPOINT": "127.0.0.1:29464",
        "RAGVIGIL_METRICS__ENDPOINT": "localhost:29464",
    }
    done = run_tied(program, seconds=PATIENCE_SECONDS, env={**os.environ, **variables})
    assert done.returncode == 2
    assert done.stderr.strip() == (
        "[web] endpoint: 127.0.0.1:29464 has the port of [metrics] endpoint (localhost:29464); "
        "every listener needs a port of its own"
    )


ENDING_CORE = """
import pathlib, socket, sys
from ragvigil.app.process.directory import hold
lock = hold(pathlib.Path(sys.argv[1]), "core")
port = socket.create_server(("127.0.0.1", int(sys.argv[2])))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
def test_a_start_waits_for_the_core_of_a_killed_daemon_and_says_so(tmp_path: Path) -> None:
    port = free_port()
    # It has what a core has that takes a while to end: the lock, and the port of the web.
    core = start_tied(
        [sys.executable, "-c", ENDING_CORE, str(tmp_path), str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert core.stdout is not None
    assert core.stdout.readline() == b"held\n"
    daemon = start(tmp_path, settings={"RAGVIGIL_WEB__ENDPOINT": f"127.0.0.1:{port}"})
    wait_for_line(daemon, "waiting for the last core to end")
    core.communicate()
    daemon.wait_ready()
    assert daemon.stop(100) == 0


def wait_for_line(daemon: ChildDaemon, text: str) -> None:
    """Returns once the daemon has logged a text."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while text not in daemon.last_lines():
        assert daemon.process.poll() is None, daemon.last_lines()
        assert time.monotonic() < give_up, daemon.last_lines()
        time.sleep(0.05)
