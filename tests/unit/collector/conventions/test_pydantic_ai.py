"""Pydantic AI's formats 1 to 3 and Logfire's bodies: an agent that retrieves through a tool."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from collector.conventions import pydantic_ai
from collector.record.build import records
from ragvigil.model.record import Absent, RagRecord
from ragvigil.model.span import AttributeValue, Span
from tests.garbage import said_of, spans_of
from tests.traces import ANSWER, DOCUMENTS, PROMPT, QUESTION, retriever, span, trace

SHOWN = "\n".join(f"[{name}] {text}" for name, text in DOCUMENTS)
CALL = {"id": "c1", "type": "function", "function": {"name": "search_kb", "arguments": "{}"}}
ASKS = {"type": "tool_call", "id": "c1", "name": "search_kb", "arguments": {"query": "x"}}


def words(text: str) -> dict[str, object]:
    return {"type": "text", "content": text}


def one_event(event: str, **body: object) -> dict[str, object]:
    return {**body, "gen_ai.message.index": 0, "event.name": f"gen_ai.{event}"}


EVENTS = [
    one_event("system.message", role="system", content="Answer from the context."),
    one_event("user.message", role="user", content=QUESTION),
    one_event("assistant.message", role="assistant", tool_calls=[CALL]),
    one_event("tool.message", role="tool", content=SHOWN, id="c1", name="search_kb"),
]
CALLED = one_event("choice", index=0, message={"role": "assistant", "tool_calls": [CALL]})
ANSWERED = one_event("choice", index=0, message={"role": "assistant", "content": ANSWER})
RETURNED = {"type": "tool_call_response", "id": "c1", "name": "search_kb", "result": SHOWN}
MESSAGES = [
    {"role": "system", "parts": [words("Answer from the context.")]},
    {"role": "user", "parts": [words(QUESTION)]},
    {"role": "assistant", "parts": [ASKS]},
    {"role": "user", "parts": [RETURNED]},
]
REPLIED = {"role": "assistant", "parts": [words(ANSWER)]}


def said(version: int, asked: int) -> dict[str, AttributeValue]:
    """What a model call carries that has seen so many messages."""
    if version == 1:
        answer = CALLED if asked == 2 else ANSWERED
        return {"events": json.dumps([*EVENTS[:asked], answer])}
    answer = {"role": "assistant", "parts": [ASKS]} if asked == 2 else REPLIED
    return {
        "gen_ai.input.messages": json.dumps(MESSAGES[:asked]),
        "gen_ai.output.messages": json.dumps([answer]),
    }


def chat(name: str, at: tuple[float, float], attributes: dict[str, AttributeValue]) -> Span:
    common: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m-1",
        "gen_ai.usage.input_tokens": 12,
        "operation.cost": 0.25,
    }
    return span(name, {**common, **attributes}, parent="root", at=at)


def agent(version: int) -> Span:
    run: dict[str, AttributeValue] = {
        "model_name": "m-1",
        "agent_name": "help",
        "logfire.msg": "help run",
        "final_result": ANSWER,
    }
    if version == 1:
        run["all_messages_events"] = json.dumps([*EVENTS, one_event(
            "assistant.message", role="assistant", content=ANSWER)])  # fmt: skip
    else:
        run["pydantic_ai.all_messages"] = json.dumps([*MESSAGES, REPLIED])
    return span("root", run)


def tool(attributes: dict[str, AttributeValue] | None = None) -> Span:
    carried = attributes or {"tool_arguments": '{"query": "x"}', "tool_response": SHOWN}
    common = {"gen_ai.tool.name": "search_kb", "gen_ai.tool.call.id": "c1", "logfire.msg": "m"}
    return span("running tool", {**common, **carried}, parent="root", at=(0.2, 0.3))


def record_of(*spans: Span) -> RagRecord:
    (record,) = records(trace(*spans))
    return record


@pytest.mark.parametrize("version", [1, 2])
def test_an_agents_run_makes_a_whole_record(version: int) -> None:
    first = chat("first", (0.1, 0.2), said(version, 2))
    last = chat("last", (0.4, 0.9), said(version, 4))
    record = record_of(agent(version), first, tool(), last)
    assert record.query == QUESTION
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )
    assert [document.chunk_id for document in record.context] == [name for name, _ in DOCUMENTS]
    assert record.answer == ANSWER
    assert [citation.chunk_id for citation in record.citations] == ["refund-01"]
    assert (record.route, record.cost_usd) == ("help", 0.5)


@pytest.mark.parametrize("version", [1, 2])
def test_model_calls_alone_hold_question_documents_and_answer(version: int) -> None:
    first = chat("first", (0.1, 0.2), said(version, 2))
    last = chat("last", (0.4, 0.9), said(version, 4))
    record = record_of(span("root"), first, last)
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )


def test_the_question_is_this_runs_and_not_that_of_an_earlier_turn() -> None:
    earlier = [{"role": "user", "parts": [words("Who are you?")]},
               {"role": "assistant", "parts": [words("A helper.")]}]  # fmt: skip
    run = {"agent_name": "help", "final_result": ANSWER,
           "pydantic_ai.all_messages": json.dumps([*earlier, *MESSAGES, REPLIED])}  # fmt: skip
    first = chat("first", (0.1, 0.2), said(2, 2))
    last = chat("last", (0.4, 0.9), said(2, 4))
    assert record_of(span("root", run), first, tool(), last).query == QUESTION


def test_an_answer_that_is_written_as_a_list_is_kept_to_the_letter() -> None:
    written = json.dumps([{"id": "refund-01", "text": "Within 30 days."}])
    replied = json.dumps([{"role": "assistant", "parts": [words(written)]}])
    last = chat("last", (0.4, 0.9), {**said(2, 4), "gen_ai.output.messages": replied})
    run = {**agent(2).attributes, "final_result": written}
    assert record_of(span("root", run), tool(), last).answer == written


def test_a_tool_that_tells_the_weather_retrieves_nothing() -> None:
    weather = tool({"tool_arguments": "{}", "tool_response": "20 degrees"})
    plain = chat("last", (0.4, 0.9), {"events": json.dumps([EVENTS[1], ANSWERED])})
    assert records(trace(span("root"), weather, plain)) == ()


@pytest.mark.parametrize("version", [1, 2])
def test_content_that_is_switched_off_is_hidden_and_not_empty(version: int) -> None:
    off: dict[str, AttributeValue] = {
        "gen_ai.input.messages": '[{"role": "user", "parts": [{"type": "text"}]}]',
        "gen_ai.output.messages": '[{"role": "assistant", "parts": [{"type": "text"}]}]',
    }
    if version == 1:
        off = {"events": json.dumps([one_event("user.message", role="user"), one_event(
            "choice", index=0, message={"role": "assistant"})])}  # fmt: skip
    record = record_of(span("root"), retriever(), chat("last", (0.4, 0.9), off))
    assert record.answer is None
    assert record.absent["answer"] is Absent.HIDDEN


@pytest.mark.parametrize(
    "response",
    [
        {"message": {"role": "assistant", "content": ANSWER}, "usage": {"prompt_tokens": 1}},
        {"combined_chunk_content": ANSWER, "chunk_count": 3},
    ],
)
def test_logfires_bodies_of_a_clients_call_are_read(response: dict[str, object]) -> None:
    request = {"model": "m-1", "messages": [{"role": "user", "content": PROMPT}]}
    attributes: dict[str, AttributeValue] = {
        "logfire.msg": "Chat Completion with 'm-1'",
        "request_data": json.dumps(request),
        "response_data": json.dumps(response),
        "gen_ai.request.model": "m-1",
    }
    call = span("Chat Completion", attributes, parent="root", at=(0.3, 0.9))
    record = record_of(span("root"), retriever(), call)
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [document.chunk_id for document in record.context] == [name for name, _ in DOCUMENTS]


@given(spans_of(pydantic_ai, "events", "all_messages_events", "tool_response", "request_data",
                "response_data", said=(json.dumps(EVENTS), json.dumps([3, {"event.name": []}]),
                                       '{"messages": [[{}]], "message": 3}')))  # fmt: skip
def test_any_span_can_be_read(any_span: Span) -> None:
    said_of(pydantic_ai, any_span)
