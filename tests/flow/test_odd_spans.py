"""Spans that a new user sends, through the daemon: snake case, no text, a huge chunk, no clock."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from ragvigil.app.demo.child_daemon import ChildDaemon, running
from ragvigil.model.span import MAX_VALUE_CHARACTERS
from tests.replayed import wait_for

pytestmark = pytest.mark.slow

CHUNK = "Refunds take five days."
PROMPT = f"Context: {CHUNK}\n\nQuestion: How long do refunds take?"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChildDaemon]:
    with running(tmp_path_factory.mktemp("odd")) as started:
        yield started


def sent(daemon: ChildDaemon, number: int, *, chunk: str = CHUNK, nanos: int = 0) -> dict[str, Any]:
    """Sends a trace in proto3 JSON whose model returned "", and waits for its record."""
    request, trace_id = ExportTraceServiceRequest(), bytes([number]) * 16
    resource = request.resource_spans.add()
    resource.resource.attributes.add(key="service.name").value.string_value = "desk"
    kinds: dict[str, dict[str, str]] = {
        "CHAIN": {"input.value": "How long do refunds take?"},
        "RETRIEVER": {"retrieval.documents.0.document.content": chunk},
        "LLM": {
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": PROMPT,
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": "",
        },
    }
    scope, start = resource.scope_spans.add(), nanos or time.time_ns()
    for place, (kind, attributes) in enumerate(kinds.items(), 1):
        span = scope.spans.add(trace_id=trace_id, span_id=bytes([place]) * 8, name=kind)
        span.parent_span_id = b"" if place == 1 else bytes([1]) * 8
        span.start_time_unix_nano = start + place
        span.end_time_unix_nano = start + 1000 - place
        for key, value in {"openinference.span.kind": kind, **attributes}.items():
            span.attributes.add(key=key).value.string_value = value
    document = MessageToDict(request, preserving_proto_field_name=True)
    assert post(daemon, document) == {}
    path = f"traces/{trace_id.hex()}"
    return wait_for(lambda: _records(daemon, path))[0]  # type: ignore[no-any-return]


def _records(daemon: ChildDaemon, path: str) -> Any:
    try:
        return daemon.get(path)["records"]
    except httpx2.HTTPStatusError:
        return None  # not stored yet


def post(daemon: ChildDaemon, document: dict[str, Any]) -> Any:
    headers = {"content-type": "application/json"}
    reply = httpx2.post(f"http://{daemon.http}/v1/traces", content=json.dumps(document),
                        headers=headers, timeout=60)  # fmt: skip
    assert reply.status_code == 200, reply.text
    return reply.json()


def test_an_empty_answer_is_scored_and_doctor_is_silent_about_it(daemon: ChildDaemon) -> None:
    record = sent(daemon, 1)
    assert (record["answer"], record["truncated"], record["clock_replaced"]) == ("", [], False)
    scores = {score["rubric"]: score for score in record["scores"]}
    complete = scores["answer_complete_text"]
    assert (complete["value"], complete["label"], complete["failed"]) == (0.0, "empty", True)
    found = daemon.get("records", rubric="answer_complete_text", label="empty")["records"]
    assert record["record_id"] in [each["record_id"] for each in found]
    (service,) = wait_for(lambda: daemon.get("doctor")["services"])
    assert service["present"]["answer"] == 1.0
    assert "answer" not in [finding["field"] for finding in service["findings"]]


def test_a_chunk_of_five_megabytes_is_said_to_be_cut(daemon: ChildDaemon) -> None:
    record = sent(daemon, 2, chunk=f"{CHUNK} {'x' * 5_000_000}")
    assert record["truncated"] == ["values"]
    assert len(record["retrieved"][0]["content"]) < MAX_VALUE_CHARACTERS + 100


def test_a_clock_of_1970_is_said_to_be_replaced(daemon: ChildDaemon) -> None:
    record = sent(daemon, 3, nanos=10**9)
    assert record["clock_replaced"] is True
    assert record["ended"].startswith("1970")
    assert not record["time"].startswith("1970")


def test_a_request_in_which_nothing_was_read_is_told_so(daemon: ChildDaemon) -> None:
    told = post(daemon, {"resourceSpan": [{"scopeSpans": []}]})["partialSuccess"]
    assert told["errorMessage"] == "nothing was read: resourceSpan is no field of a traces request"
    assert told["rejectedSpans"] == "0"
