"""OTel GenAI content in all the places where its versions put it."""

from __future__ import annotations

import json

import pytest

from collector.record.build import records
from ragvigil.model.record import Absent, ContextSource, RagRecord
from ragvigil.model.span import AttributeValue, Event, LogRecord, Span, StatusCode
from tests.traces import ANSWER, DOCUMENTS, PROMPT, QUESTION, TRACE_ID, span, trace

CHAT: dict[str, AttributeValue] = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "m-1",
    "gen_ai.usage.input_tokens": 12,
}
SYSTEM = "Answer from the context."
NAMES = [name for name, _ in DOCUMENTS]


def retrieval(documents: AttributeValue = None) -> Span:
    listed = documents or [{"id": n, "content": t, "score": 0.5} for n, t in DOCUMENTS]
    attributes = {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.retrieval.query.text": QUESTION,
        "gen_ai.retrieval.documents": listed,
    }
    return span("retrieval", attributes, parent="root", at=(0.1, 0.2))


def event(name: str, **attributes: AttributeValue) -> Event:
    return Event(name=name, time_unix_nano=1, attributes=attributes)


def log(name: str, body: AttributeValue, at: int) -> LogRecord:
    return LogRecord(
        trace_id=TRACE_ID, span_id="chat", time_unix_nano=at, event_name=name, body=body
    )


def record_of(chat: Span, found: Span | None = None) -> RagRecord:
    (record,) = records(trace(span("root"), found or retrieval(), chat))
    return record


def chat(attributes: dict[str, AttributeValue] | None = None, **more: object) -> Span:
    return span("chat", {**CHAT, **(attributes or {})}, parent="root", at=(0.3, 0.9), **more)  # type: ignore[arg-type]


def parts(text: str) -> list[AttributeValue]:
    return [{"type": "text", "content": text}]


ASKED: list[AttributeValue] = [{"role": "user", "parts": parts(PROMPT)}]
REPLIED: list[AttributeValue] = [
    {"role": "assistant", "parts": parts(ANSWER), "finish_reason": "stop"}
]
IN_ATTRIBUTES = chat(
    {
        "gen_ai.input.messages": json.dumps(ASKED),
        "gen_ai.output.messages": json.dumps(REPLIED),
        "gen_ai.system_instructions": json.dumps(parts(SYSTEM)),
    }
)
STRUCTURED = chat(
    {
        "gen_ai.input.messages": ASKED,
        "gen_ai.output.messages": REPLIED,
        "gen_ai.system_instructions": parts(SYSTEM),
    }
)
IN_DETAILS = chat(
    logs=(
        log(
            "gen_ai.client.inference.operation.details",
            {
                "gen_ai.input.messages": ASKED,
                "gen_ai.output.messages": REPLIED,
                "gen_ai.system_instructions": parts(SYSTEM),
            },
            1,
        ),
    )
)
IN_DETAILS_EVENT = chat(
    events=(
        Event(
            name="gen_ai.client.inference.operation.details",
            time_unix_nano=1,
            attributes={
                "gen_ai.input.messages": json.dumps(ASKED),
                "gen_ai.output.messages": json.dumps(REPLIED),
                "gen_ai.system_instructions": json.dumps(parts(SYSTEM)),
            },
        ),
    )
)
IN_LOGS = chat(
    logs=(
        log("gen_ai.system.message", {"content": SYSTEM}, 1),
        log("gen_ai.user.message", {"content": PROMPT}, 2),
        log(
            "gen_ai.choice",
            {"index": 0, "finish_reason": "stop", "message": {"content": ANSWER}},
            3,
        ),
    )
)
IN_SPAN_EVENTS = chat(
    events=(
        event("gen_ai.system.message", content=SYSTEM),
        event("gen_ai.user.message", content=PROMPT),
        event("gen_ai.choice", finish_reason="stop", message=json.dumps({"content": ANSWER})),
    )
)
IN_EVENT_CONTENT = chat(
    events=(
        Event(
            name="gen_ai.user.message",
            time_unix_nano=1,
            attributes={"gen_ai.event.content": json.dumps({"content": PROMPT})},
        ),
        Event(
            name="gen_ai.choice",
            time_unix_nano=2,
            attributes={
                "gen_ai.event.content": json.dumps(
                    {"finish_reason": "stop", "message": {"content": ANSWER}}
                )
            },
        ),
    )
)
OLDEST = chat(
    events=(
        Event(
            name="gen_ai.content.prompt",
            time_unix_nano=1,
            attributes={"gen_ai.prompt": json.dumps([{"role": "user", "content": PROMPT}])},
        ),
        Event(
            name="gen_ai.content.completion",
            time_unix_nano=2,
            attributes={
                "gen_ai.completion": json.dumps([{"role": "assistant", "content": ANSWER}])
            },
        ),
    )
)


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(IN_ATTRIBUTES, id="json attributes"),
        pytest.param(STRUCTURED, id="structured attributes"),
        pytest.param(IN_DETAILS, id="details log"),
        pytest.param(IN_DETAILS_EVENT, id="details span event"),
        pytest.param(IN_LOGS, id="message logs"),
        pytest.param(IN_SPAN_EVENTS, id="message span events"),
        pytest.param(IN_EVENT_CONTENT, id="event content"),
        pytest.param(OLDEST, id="v1.26"),
    ],
)
def test_prompt_and_answer_are_found_wherever_a_version_puts_them(model: Span) -> None:
    record = record_of(model)
    assert record.answer == ANSWER
    assert [document.chunk_id for document in record.context] == NAMES
    assert [citation.chunk_id for citation in record.citations] == ["refund-01"]
    assert record.query == QUESTION


def test_the_system_prompt_makes_the_prompt_version() -> None:
    models = (IN_ATTRIBUTES, STRUCTURED, IN_DETAILS, IN_LOGS, IN_SPAN_EVENTS)
    versions = {record_of(model).dimensions.prompt_version for model in models}
    assert len(versions) == 1
    assert versions.pop().startswith("sha:")


@pytest.mark.parametrize(
    "documents",
    [
        [{"id": n, "content": t} for n, t in DOCUMENTS],
        json.dumps([{"id": n, "content": t, "score": None} for n, t in DOCUMENTS]),
        [{"content": t, "chunk_id": n, "title": "x"} for n, t in DOCUMENTS],
        [{"content": t, "metadata": {"id": n}} for n, t in DOCUMENTS],
        [{"id": n} for n, _ in DOCUMENTS],
        json.dumps([{"id": n, "score": None} for n, _ in DOCUMENTS]),
    ],
)
def test_documents_are_read_in_every_form_and_texts_from_the_prompt(
    documents: AttributeValue,
) -> None:
    record = record_of(IN_ATTRIBUTES, retrieval(documents))
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )


def test_documents_may_be_plain_texts() -> None:
    """TruLens writes them so."""
    record = record_of(IN_ATTRIBUTES, retrieval([text for _, text in DOCUMENTS]))
    assert [document.content for document in record.retrieved] == [text for _, text in DOCUMENTS]
    assert record.context_source is ContextSource.RETRIEVED


def test_chunks_outside_the_prompt_have_no_texts_and_those_in_it_do() -> None:
    """The convention sends ids alone, and a service shows the model the best of them."""
    listed = [{"id": name} for name in (*NAMES, "faq-09")]
    record = record_of(IN_ATTRIBUTES, retrieval(json.dumps(listed)))
    assert [document.chunk_id for document in record.context] == NAMES
    assert all(document.content for document in record.context)
    assert record.retrieved[-1].content is None
    assert record.absent["retrieved_texts"] is Absent.NOT_SENT
    assert "document_texts" not in record.absent


def test_content_that_is_off_is_hidden() -> None:
    off = span("retrieval", {"gen_ai.operation.name": "retrieval"}, parent="root", at=(0.1, 0.2))
    record = record_of(chat(), off)
    fields = ("answer", "retrieved", "context", "document_texts")
    assert {record.absent[name] for name in fields} == {Absent.HIDDEN}
    assert record.usage.input_tokens == 12


def test_an_answer_that_failed_is_errored_and_not_hidden() -> None:
    failed = chat({"gen_ai.input.messages": ASKED, "error.type": "Timeout"},
                  status=StatusCode.ERROR)  # fmt: skip
    record = record_of(failed)
    assert record.absent["answer"] is Absent.ERRORED
    assert record.error == "Timeout"


def test_an_agents_tool_result_is_a_retrieval() -> None:
    call = {"type": "tool_call", "id": "1", "name": "search", "arguments": {"query": "refund"}}
    response = {"type": "tool_call_response", "id": "1", "result": [t for _, t in DOCUMENTS]}
    asked = [{"role": "user", "parts": parts(QUESTION)}]
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.call.arguments": json.dumps({"query": "refund"}),
        "gen_ai.tool.call.result": json.dumps([{"id": n, "text": t} for n, t in DOCUMENTS]),
    }
    first = {"gen_ai.input.messages": asked,
             "gen_ai.output.messages": [{"role": "assistant", "parts": [call]}]}  # fmt: skip
    last = {"gen_ai.input.messages": [*asked, {"role": "assistant", "parts": [call]},
                                      {"role": "tool", "parts": [response]}],
            "gen_ai.output.messages": REPLIED}  # fmt: skip
    spans = (
        span("agent", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper"},
             at=(0, 2)),
        span("c1", {**CHAT, **first}, parent="agent", at=(0, 0.1)),
        span("tool", tool, parent="agent", at=(0.1, 0.2)),
        span("c2", {**CHAT, **last}, parent="agent", at=(0.2, 0.5)),
    )  # fmt: skip
    (record,) = records(trace(*spans))
    assert (record.record_id, record.answer, record.query) == ("agent", ANSWER, QUESTION)
    assert [document.chunk_id for document in record.retrieved] == NAMES
    assert [document.chunk_id for document in record.context] == NAMES
    assert record.usage.input_tokens == 24
    assert record.route == "helper"


def test_a_cut_message_is_truncated_and_not_invented() -> None:
    cut = chat({"gen_ai.input.messages": json.dumps(ASKED)[:60],
                "gen_ai.output.messages": json.dumps(REPLIED)[:40]})  # fmt: skip
    record = record_of(cut)
    assert record.answer is None
    assert record.absent["answer"] is Absent.TRUNCATED


def test_details_may_come_in_one_event_each() -> None:
    detail = "gen_ai.client.inference.operation.details"
    carried: list[dict[str, AttributeValue]] = [
        {"gen_ai.system_instructions": json.dumps(parts(SYSTEM))},
        {"gen_ai.input.messages": json.dumps(ASKED)},
        {"gen_ai.output.messages": json.dumps(REPLIED)},
    ]
    events = tuple(event(detail, **attributes) for attributes in carried)
    record = record_of(chat(events=events))
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [document.chunk_id for document in record.context] == NAMES


def test_a_tools_result_among_a_users_parts_is_no_question() -> None:
    shown = "\n".join(f"[{name}] {text}" for name, text in DOCUMENTS)
    result = {"type": "tool_call_response", "id": "c1", "response": shown}
    asked = [{"role": "user", "parts": parts(QUESTION)}, {"role": "user", "parts": [result]}]
    model = chat({"gen_ai.input.messages": json.dumps(asked),
                  "gen_ai.output.messages": json.dumps(REPLIED)})  # fmt: skip
    (record,) = records(trace(span("root"), model))
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )


def test_parts_without_content_are_hidden_and_not_empty() -> None:
    record = record_of(
        chat(
            {
                "gen_ai.input.messages": '[{"role": "user", "parts": [{"type": "text"}]}]',
                "gen_ai.output.messages": '[{"role": "assistant", "parts": [{"type": "text"}]}]',
            }
        )
    )
    assert record.answer is None
    assert record.absent["answer"] is Absent.HIDDEN
