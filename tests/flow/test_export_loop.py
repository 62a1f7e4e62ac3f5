"""A daemon that exports: what its judge says leaves too, and what comes back changes nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from secrets import token_bytes
from typing import Any

import httpx2
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from ragvigil.app.demo.child_daemon import ChildDaemon, free_port, running
from tests.content_judge import ContentJudge
from tests.flow.test_daemon import ask
from tests.flow.test_export import Receiver
from tests.llm_server import serving
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow

CHUNK = "A lost parcel is refunded in full after 14 days without a scan."
QUIET_SECONDS = 6.0
"""Longer than a loop takes once round: closing, scoring, storing, sending."""


def trace(trace_id: bytes) -> bytes:
    """An answer: root, retriever, model."""
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    now, root, document = time.time_ns(), token_bytes(8), "retrieval.documents.0.document."
    prompt = f"When is a parcel lost? [ship-07] {CHUNK}"
    for parent, kind, attributes in (
        (b"", "CHAIN", {"input.value": "When is a parcel lost?"}),
        (root, "RETRIEVER", {f"{document}id": "ship-07", f"{document}content": CHUNK}),
        (
            root,
            "LLM",
            {
                "llm.input_messages.0.message.role": "user",
                "llm.input_messages.0.message.content": prompt,
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.content": f"{CHUNK} [ship-07]",
            },
        ),
    ):
        span = scope.spans.add(trace_id=trace_id, span_id=token_bytes(8) if parent else root)
        span.parent_span_id, span.name = parent, kind
        span.start_time_unix_nano, span.end_time_unix_nano = now, now + 1_000_000
        for key, value in {"openinference.span.kind": kind, **attributes}.items():
            span.attributes.add(key=key).value.string_value = value
    return request.SerializeToString()


def metric(daemon: ChildDaemon, name: str) -> float:
    lines = httpx2.get(
        f"http://{daemon.metrics}/metrics", timeout=PATIENCE_SECONDS
    ).text.splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name))


def wait_for(daemon: ChildDaemon, holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, daemon.last_lines()
        time.sleep(0.1)


def stored(daemon: ChildDaemon, trace_id: bytes) -> dict[str, Any]:
    reply = httpx2.get(
        f"http://{daemon.web}/api/v1/traces/{trace_id.hex()}", timeout=PATIENCE_SECONDS
    )
    records = reply.json()["records"] if reply.status_code == 200 else []
    return dict(records[0]) if records else {}


@pytest.mark.parametrize(("form", "protocol"), [("events", "grpc"), ("spans", "http/protobuf")])
def test_a_daemon_that_exports_to_itself_neither_scores_nor_exports_what_comes_back(
    form: str, protocol: str, tmp_path: Path
) -> None:
    ports = {"grpc": free_port(), "http/protobuf": free_port()}
    settings = {
        "RAGVIGIL_COLLECTOR__GRPC_ENDPOINT": f"127.0.0.1:{ports['grpc']}",
        "RAGVIGIL_COLLECTOR__HTTP_ENDPOINT": f"127.0.0.1:{ports['http/protobuf']}",
        "RAGVIGIL_EXPORT__PROTOCOL": protocol,
        "RAGVIGIL_EXPORT__FORM": form,
        "RAGVIGIL_EXPORT__ENDPOINT": f"http://127.0.0.1:{ports[protocol]}",
    }
    trace_id = token_bytes(16)
    with running(tmp_path, settings=settings) as daemon:
        httpx2.post(
            f"http://{daemon.http}/v1/traces",
            content=trace(trace_id),
            headers={"content-type": "application/x-protobuf"},
        ).raise_for_status()
        wait_for(daemon, lambda: metric(daemon, "ragvigil_exported_results_total") > 0)
        wait_for(daemon, lambda: metric(daemon, "ragvigil_own_results_ignored_total") > 0)
        before = stored(daemon, trace_id)
        exported = metric(daemon, "ragvigil_exported_results_total")
        time.sleep(QUIET_SECONDS)
        assert stored(daemon, trace_id) == before
        assert before["generation"] == 3
        assert before["feedback"] == []
        assert metric(daemon, "ragvigil_exported_results_total") == exported
        assert metric(daemon, "ragvigil_export_dropped_total") == 0
        assert metric(daemon, "ragvigil_span_feedback_total") == 0
        assert metric(daemon, 'ragvigil_trace_outcomes_total{outcome="scored"}') == 1
        log = (tmp_path / "daemon.log").read_text()
        assert log.count("results leave for its address") == 1
        assert f"address=http://127.0.0.1:{ports[protocol]}" in log


def test_what_a_judge_says_leaves_beside_what_code_says(tmp_path: Path) -> None:
    receiver = Receiver()
    with serving(ContentJudge().answer) as model, receiver.serving():
        settings = {
            "RAGVIGIL_JUDGE__MODEL": "openai:gpt-4.1-mini",
            "RAGVIGIL_JUDGE__BASE_URL": model.openai,
            "RAGVIGIL_JUDGE__ALLOW": "true",
            "RAGVIGIL_JUDGE__SAMPLE_RATE": "1",
            "RAGVIGIL_JUDGE__WAIT_SECONDS": "0",
            "RAGVIGIL_EXPORT__PROTOCOL": "http/protobuf",
            "RAGVIGIL_EXPORT__ENDPOINT": f"http://127.0.0.1:{receiver.port}",
        }
        with running(tmp_path, settings=settings) as daemon:
            trace_id = ask(daemon, "Refunds are paid in gold within the hour")

            def judged() -> dict[str, Any]:
                found = [
                    result
                    for result in receiver.taken
                    if result.attributes["ragvigil.kind"] == "judge"
                ]
                return {
                    str(result.attributes["gen_ai.evaluation.name"]): result for result in found
                }

            wait_for(daemon, lambda: "groundedness" in judged())
    grounded = judged()["groundedness"]
    assert {result.trace_id for result in receiver.taken} == {trace_id}
    assert {result.span_id for result in receiver.taken} == {grounded.span_id}
    assert grounded.attributes["gen_ai.evaluation.score.value"] < 1.0
    assert grounded.attributes["ragvigil.evaluator"] == "openai:gpt-4.1-mini"
    assert grounded.attributes["ragvigil.stream"] == "base"
    kinds = {result.attributes["ragvigil.kind"] for result in receiver.taken}
    assert kinds == {"code", "judge"}
    assert all(
        "gen_ai.evaluation.explanation" not in result.attributes for result in receiver.taken
    )
