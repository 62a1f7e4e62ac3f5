"""Semantic Kernel, Microsoft.Extensions.AI and the Agent Framework."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from collector.conventions import semantic_kernel
from collector.record.build import records
from ragvigil.model.record import Absent, RagRecord
from ragvigil.model.span import AttributeValue, Event, LogRecord, Span
from tests.garbage import said_of, spans_of
from tests.traces import ANSWER, DOCUMENTS, PROMPT, QUESTION, TRACE_ID, span, trace

NAMES = [name for name, _ in DOCUMENTS]
SHOWN = "\n".join(f"[{name}] {text}" for name, text in DOCUMENTS)
CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
TOOL = span(
    "execute_tool search",
    {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search",
        "gen_ai.tool.call.arguments": json.dumps({"query": "x"}),
        "gen_ai.tool.call.result": SHOWN,
    },
    parent="root",
    at=(0.1, 0.2),
)


def log(name: str, body: object, at: int) -> LogRecord:
    """Python's log record: the event in an attribute, the body as JSON text."""
    said = body if isinstance(body, str) else json.dumps(body)
    attributes: dict[str, AttributeValue] = {"event.name": name, "gen_ai.system": "openai"}
    return LogRecord(
        trace_id=TRACE_ID, span_id="chat", time_unix_nano=at, event_name=name, body=said,
        attributes=attributes,
    )  # fmt: skip


def event(name: str, body: object, at: int) -> Event:
    """.NET's span event."""
    content = {"gen_ai.system": "openai", "gen_ai.event.content": json.dumps(body)}
    return Event(name=name, time_unix_nano=at, attributes=content)


def chat(attributes: dict[str, AttributeValue] | None = None, **more: object) -> Span:
    common: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.system": "openai",
        "gen_ai.request.model": "m-1",
        "gen_ai.usage.input_tokens": 12,
    }
    return span("chat", {**common, **(attributes or {})}, parent="root", at=(0.3, 0.9), **more)  # type: ignore[arg-type]


def record_of(*spans: Span) -> RagRecord:
    (record,) = records(trace(span("root"), *spans))
    return record


SAID = (
    ("gen_ai.system.message", {"role": "system", "content": "Be short."}),
    ("gen_ai.user.message", {"role": "user", "content": QUESTION}),
    ("gen_ai.assistant.message", {"role": "assistant", "tool_calls": [CALL]}),
    ("gen_ai.tool.message", {"role": "tool", "content": SHOWN, "tool_call_id": "c1"}),
    (
        "gen_ai.choice",
        {"index": 0, "message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"},
    ),
)


@pytest.mark.parametrize("is_python", [True, False])
def test_content_in_log_records_or_span_events_makes_a_whole_record(is_python: bool) -> None:
    logs = tuple(log(name, body, at) for at, (name, body) in enumerate(SAID))
    events = tuple(event(name, body, at) for at, (name, body) in enumerate(SAID))
    record = record_of(chat(logs=logs) if is_python else chat(events=events))
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )
    assert [citation.chunk_id for citation in record.citations] == ["refund-01"]


def test_a_text_completion_is_an_answer() -> None:
    completion: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "text_completions",
        "gen_ai.response.finish_reason": "FinishReason.STOP",
    }
    said = (log("gen_ai.prompt", PROMPT, 1), log("gen_ai.choice", {"message": {"text": ANSWER}}, 2))
    record = record_of(TOOL, chat(completion, logs=said))
    assert record.answer == ANSWER
    assert [document.chunk_id for document in record.context] == NAMES
    assert record.dimensions.finish_reason == "stop"


def test_content_that_is_switched_off_is_hidden() -> None:
    record = record_of(TOOL, chat({"gen_ai.operation.name": "text_completions"}))
    assert record.answer is None
    assert record.absent["answer"] is Absent.HIDDEN


@pytest.mark.parametrize("response", ["response", "result"])
def test_microsofts_extensions_and_agent_framework_are_read_as_otels(response: str) -> None:
    asked = [{"role": "user", "parts": [{"type": "text", "content": QUESTION}]},
             {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "search"}]},
             {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1",
                                         response: SHOWN}]}]  # fmt: skip
    replied = [{"role": "assistant", "finish_reason": "stop",
                "parts": [{"type": "text", "content": ANSWER}]}]  # fmt: skip
    attributes: dict[str, AttributeValue] = {
        "gen_ai.provider.name": "openai",
        "gen_ai.input.messages": json.dumps(asked),
        "gen_ai.output.messages": json.dumps(replied),
    }
    orchestration = span("orchestrate_tools", {"gen_ai.operation.name": "orchestrate_tools"},
                         parent="root", at=(0.05, 0.95))  # fmt: skip
    record = record_of(orchestration, TOOL, chat(attributes))
    assert record.answer == ANSWER
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )


@given(spans_of(semantic_kernel, "gen_ai.choice", said=("text_completions", ",", "stop")))
def test_any_span_can_be_read(any_span: Span) -> None:
    said_of(semantic_kernel, any_span)
