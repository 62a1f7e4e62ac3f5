"""Late spans, spans sent twice, prompts that travel as log records: through the whole daemon."""

from __future__ import annotations

import time
from collections.abc import Iterator
from secrets import token_bytes
from typing import Any

import httpx2
import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from ragvigil.app.demo.child_daemon import ChildDaemon, running
from tests.patience import PATIENCE_SECONDS

CHUNK = "A lost parcel is refunded in full after 14 days without a scan."
Span = tuple[bytes, bytes, str, dict[str, str]]


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChildDaemon]:
    with running(tmp_path_factory.mktemp("late")) as started:
        yield started


def send(daemon: ChildDaemon, trace_id: bytes, spans: list[Span]) -> None:
    """Sends spans: id, parent, kind, attributes."""
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    now = time.time_ns()
    for span_id, parent, kind, attributes in spans:
        span = scope.spans.add(trace_id=trace_id, span_id=span_id, parent_span_id=parent, name=kind)
        span.start_time_unix_nano, span.end_time_unix_nano = now, now + 1_000_000
        for key, value in {"openinference.span.kind": kind, **attributes}.items():
            span.attributes.add(key=key).value.string_value = value
    post(daemon, "traces", request.SerializeToString())


def post(daemon: ChildDaemon, signal: str, body: bytes) -> None:
    headers = {"content-type": "application/x-protobuf"}
    httpx2.post(
        f"http://{daemon.http}/v1/{signal}", content=body, headers=headers
    ).raise_for_status()


def parts(question: str) -> tuple[Span, Span, Span]:
    root, retriever, model = token_bytes(8), token_bytes(8), token_bytes(8)
    document = "retrieval.documents.0.document."
    return (
        (root, b"", "CHAIN", {"input.value": question}),
        (
            retriever,
            root,
            "RETRIEVER",
            {"input.value": question, f"{document}id": "ship-07", f"{document}content": CHUNK},
        ),
        (
            model,
            root,
            "LLM",
            {
                "llm.input_messages.0.message.role": "user",
                "llm.input_messages.0.message.content": f"{question} [ship-07] {CHUNK}",
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.content": f"{CHUNK} [ship-07]",
            },
        ),
    )


def wait_for(daemon: ChildDaemon, trace_id: bytes, holds: Any) -> dict[str, Any]:
    """The first record of the trace once `holds` of it."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        reply = httpx2.get(
            f"http://{daemon.web}/api/v1/traces/{trace_id.hex()}", timeout=PATIENCE_SECONDS
        )
        records = reply.json()["records"] if reply.status_code == 200 else []
        if records and holds(records[0]):
            return dict(records[0])
        time.sleep(0.1)
    raise AssertionError(daemon.last_lines())


def counted(daemon: ChildDaemon, acknowledged: int = 0) -> dict[str, int]:
    """The ledger once it knows of so many spans and none waits.

    A slow machine keeps an answer for seconds: one from before the spans came is asked again.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        spans = dict(daemon.get("ledger")["spans"])
        if spans["acknowledged"] >= acknowledged and not spans["in_spool"]:
            return spans
        assert time.monotonic() < deadline, spans
        time.sleep(0.1)


def test_a_late_span_scores_the_trace_again_as_its_next_generation(daemon: ChildDaemon) -> None:
    trace_id, (root, retriever, model) = token_bytes(16), parts("When is a parcel lost?")
    send(daemon, trace_id, [root, retriever, model])
    first = wait_for(daemon, trace_id, lambda record: record["generation"] == 3)
    send(daemon, trace_id, [(token_bytes(8), root[0], "EMBEDDING", {})])
    second = wait_for(daemon, trace_id, lambda record: record["generation"] == 4)
    assert second["record_id"] == first["record_id"]
    assert second["time"] == first["time"], "all generations count for one minute"
    rubrics = [score["rubric"] for score in second["scores"]]
    assert sorted(rubrics) == sorted(score["rubric"] for score in first["scores"])


def test_a_span_sent_twice_counts_once(daemon: ChildDaemon) -> None:
    before = counted(daemon)
    trace_id, spans = token_bytes(16), list(parts("Is it refunded?"))
    send(daemon, trace_id, spans)
    send(daemon, trace_id, spans)
    wait_for(daemon, trace_id, lambda record: record["generation"] == 3)
    after = counted(daemon, before["acknowledged"] + 6)
    assert after["stored"] - before["stored"] == 3
    assert after["duplicate"] - before["duplicate"] == 3


def test_a_prompt_that_travels_as_a_log_record_joins_its_span(daemon: ChildDaemon) -> None:
    trace_id, (root, retriever, (model, parent, _, _)) = token_bytes(16), parts("Log or span?")
    send(daemon, trace_id, [root, retriever])
    logs = ExportLogsServiceRequest()
    scope = logs.resource_logs.add().scope_logs.add()
    for name, body in (("gen_ai.user.message", "content"), ("gen_ai.choice", "message")):
        record = scope.log_records.add(trace_id=trace_id, span_id=model, event_name=name)
        record.time_unix_nano = time.time_ns()
        value = record.body.kvlist_value.values.add(key=body).value
        if body == "content":
            value.string_value = f"Log or span? [ship-07] {CHUNK}"
        else:
            value.kvlist_value.values.add(key="content").value.string_value = f"{CHUNK} [ship-07]"
    post(daemon, "logs", logs.SerializeToString())
    request = ExportTraceServiceRequest()
    span = (
        request.resource_spans.add()
        .scope_spans.add()
        .spans.add(trace_id=trace_id, span_id=model, parent_span_id=parent, name="chat gpt")
    )
    span.start_time_unix_nano, span.end_time_unix_nano = time.time_ns(), time.time_ns() + 1000
    span.attributes.add(key="gen_ai.operation.name").value.string_value = "chat"
    span.attributes.add(key="gen_ai.request.model").value.string_value = "gpt"
    post(daemon, "traces", request.SerializeToString())
    record_ = wait_for(daemon, trace_id, lambda record: record["answer"])
    assert record_["answer"] == f"{CHUNK} [ship-07]"
    assert {score["rubric"]: score["value"] for score in record_["scores"]}[
        "citation_validity"
    ] == 1.0


def tell(
    daemon: ChildDaemon,
    attributes: dict[str, str],
    link: tuple[bytes, bytes] | None,
    carrier: tuple[bytes, bytes] | None = None,
) -> None:
    """Sends a span that judges another: by a link to it, or by the response's id in an event."""
    request = ExportTraceServiceRequest()
    span = request.resource_spans.add().scope_spans.add().spans.add(name="feedback")
    span.trace_id, span.span_id = carrier or (token_bytes(16), token_bytes(8))
    span.start_time_unix_nano = span.end_time_unix_nano = time.time_ns()
    told: Any = span
    if link is not None:
        span.links.add(trace_id=link[0], span_id=link[1])
    else:
        told = span.events.add(name="gen_ai.evaluation.result", time_unix_nano=time.time_ns())
    for key, value in attributes.items():
        told.attributes.add(key=key).value.string_value = value
    post(daemon, "traces", request.SerializeToString())


def test_feedback_that_comes_after_the_answer_is_shown_with_it(daemon: ChildDaemon) -> None:
    trace_id, spans = token_bytes(16), parts("Is a lost parcel refunded?")
    send(daemon, trace_id, list(spans))
    wait_for(daemon, trace_id, lambda record: record["answer"])
    annotation = "annotations.0.annotation."
    said = {f"{annotation}name": "thumbs", f"{annotation}label": "down"}
    carrier = (token_bytes(16), token_bytes(8))
    for _ in range(2):  # what is sent again is no second opinion
        tell(daemon, said, (trace_id, spans[0][0]), carrier)
    tell(daemon, said | {f"{annotation}label": "up"}, (trace_id, spans[0][0]))
    record = wait_for(daemon, trace_id, lambda record: len(record["feedback"]) >= 2)
    assert sorted((feedback["kind"], feedback["value"]) for feedback in record["feedback"]) == [
        ("thumbs", 0.0), ("thumbs", 1.0),
    ]  # fmt: skip


@pytest.mark.parametrize("by_response", [True, False])
def test_an_evaluation_in_a_log_record_without_a_span_finds_its_answer(
    daemon: ChildDaemon, by_response: bool
) -> None:
    """By the id of the response, or by the trace that the record names."""
    trace_id, spans = token_bytes(16), parts("Who pays the way back?")
    response = f"chatcmpl-{token_bytes(6).hex()}"
    spans[2][3]["gen_ai.response.id"] = response
    logs = ExportLogsServiceRequest()
    record = (
        logs.resource_logs.add()
        .scope_logs.add()
        .log_records.add(
            trace_id=trace_id, event_name="gen_ai.evaluation.result", time_unix_nano=time.time_ns()
        )
    )
    said = {"gen_ai.evaluation.name": "tone", "gen_ai.evaluation.score.label": "fail"}
    for key, value in (said | ({"gen_ai.response.id": response} if by_response else {})).items():
        record.attributes.add(key=key).value.string_value = value
    send(daemon, trace_id, list(spans))
    for _ in range(2):
        post(daemon, "logs", logs.SerializeToString())
    found = wait_for(daemon, trace_id, lambda record: record["feedback"])
    (told,) = found["feedback"]
    assert (told["value"], told["comment"]) == (0.0, "tone: fail")


def test_feedback_that_comes_before_the_answer_finds_it_by_its_response(
    daemon: ChildDaemon,
) -> None:
    response = f"chatcmpl-{token_bytes(6).hex()}"
    said = {
        "gen_ai.evaluation.name": "relevance",
        "gen_ai.evaluation.score.label": "pass",
        "gen_ai.response.id": response,
    }
    tell(daemon, said, None)
    trace_id, spans = token_bytes(16), parts("When is it refunded?")
    spans[2][3]["gen_ai.response.id"] = response
    send(daemon, trace_id, list(spans))
    record = wait_for(daemon, trace_id, lambda record: record["feedback"])
    (told,) = record["feedback"]
    assert (told["kind"], told["value"], told["source"]) == ("rating", 1.0, "gen_ai.evaluation")
