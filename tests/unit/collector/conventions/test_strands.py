"""Strands Agents: Bedrock's blocks in span events, of models, tools and agents."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from collector.conventions import strands
from collector.record.build import records
from ragvigil.model.record import RagRecord
from ragvigil.model.span import AttributeValue, Event, Span
from tests.garbage import said_of, spans_of
from tests.traces import ANSWER, DOCUMENTS, QUESTION, span, trace

NAMES = [name for name, _ in DOCUMENTS]
SHOWN = "\n".join(f"[{name}] {text}" for name, text in DOCUMENTS)
LISTED = {"results": [{"chunk_id": name, "text": text} for name, text in DOCUMENTS]}
DETAILS = "gen_ai.client.inference.operation.details"
SYSTEM: dict[str, AttributeValue] = {"gen_ai.system": "strands-agents"}
CALL = [{"toolUse": {"toolUseId": "t1", "name": "search", "input": {"query": "refund window"}}}]


def event(name: str, **attributes: object) -> Event:
    carried: dict[str, AttributeValue] = {
        key.replace("__", "."): value if isinstance(value, str) else json.dumps(value)
        for key, value in attributes.items()
    }
    return Event(name=name, time_unix_nano=1, attributes=carried)


def step(
    operation: str, at: tuple[float, float], *events: Event, name: str = "", parent: str = "cycle"
) -> Span:
    attributes: dict[str, AttributeValue] = {**SYSTEM, "gen_ai.operation.name": operation,
                                             "session.id": "s1"}  # fmt: skip
    return span(name or operation, attributes, parent=parent, at=at, events=events)


def results(content: object) -> list[object]:
    return [{"toolResult": {"toolUseId": "t1", "status": "success", "content": content}}]


ASKED = event("gen_ai.user.message", content=[{"text": QUESTION}])
CYCLE = step("execute_event_loop_cycle", (0.05, 0.95), ASKED, name="cycle", parent="root")
FIRST = step("chat", (0.1, 0.15), ASKED, event("gen_ai.choice", finish_reason="tool_use",
                                               message=CALL), name="first")  # fmt: skip
AGENT = span(
    "root",
    {**SYSTEM, "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "help"},
    events=(ASKED, event("gen_ai.choice", message=f"{ANSWER}\n", finish_reason="end_turn")),
)


def tool(content: object) -> Span:
    asked = event("gen_ai.tool.message", role="tool", content={"query": "refund window"}, id="t1")
    return step("execute_tool", (0.2, 0.3), asked, event("gen_ai.choice", message=content, id="t1"))


def answering(content: object, answer: object) -> Span:
    return step(
        "chat",
        (0.4, 0.9),
        event("gen_ai.system.message", content=[{"text": "Answer."}]),
        ASKED,
        event("gen_ai.assistant.message", content=CALL),
        event("gen_ai.tool.message", content=results(content)),
        event("gen_ai.choice", finish_reason="end_turn", message=answer),
        name="last",
    )


def record_of(*spans: Span) -> RagRecord:
    (record,) = records(trace(*spans))
    return record


@pytest.mark.parametrize("content", [[{"text": SHOWN}], [{"json": LISTED}]])
@pytest.mark.parametrize("root", [AGENT, span("root")])
def test_an_agents_run_makes_a_whole_record(root: Span, content: object) -> None:
    last = answering(content, [{"text": ANSWER}])
    record = record_of(root, CYCLE, FIRST, tool(content), last)
    assert record.query == QUESTION
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )
    assert [document.chunk_id for document in record.context] == NAMES
    assert record.answer == ANSWER
    assert [citation.chunk_id for citation in record.citations] == ["refund-01"]
    assert (record.session_id, record.dimensions.finish_reason) == ("s1", "end_turn")


def test_model_calls_alone_hold_what_the_tool_returned() -> None:
    last = answering([{"text": SHOWN}], [{"text": ANSWER}])
    record = record_of(span("root"), CYCLE, FIRST, last)
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )


def test_text_with_citations_is_text() -> None:
    cited = {"citationsContent": {"content": [{"text": ANSWER}], "citations": [{"title": "a"}]}}
    last = answering([{"text": SHOWN}], [cited])
    assert record_of(span("root"), CYCLE, FIRST, tool([{"text": SHOWN}]), last).answer == ANSWER


def test_a_tool_that_tells_the_weather_retrieves_nothing() -> None:
    weather = [{"text": "It is 20 degrees in Lisbon."}]
    assert (
        records(trace(AGENT, CYCLE, FIRST, tool(weather), answering(weather, [{"text": "20"}])))
        == ()
    )


def test_the_newer_conventions_are_read_event_by_event() -> None:
    def said(role: str, *parts: object) -> list[object]:
        return [{"role": role, "parts": list(parts), "finish_reason": "end_turn"}]

    question = said("user", {"type": "text", "content": QUESTION})
    result = {"type": "tool_call_response", "id": "t1", "response": [{"text": SHOWN}]}
    spoken = said("assistant", {"type": "text", "content": ANSWER})
    last = step(
        "chat",
        (0.4, 0.9),
        event(DETAILS, gen_ai__system_instructions=[{"type": "text", "content": "Answer."}]),
        event(DETAILS, gen_ai__input__messages=[*question, *said("user", result)]),
        event(DETAILS, gen_ai__output__messages=spoken),
        name="last",
    )
    ended = said("assistant", {"type": "text", "content": f"{ANSWER}\n"})
    agent = span("root", {**SYSTEM, "gen_ai.operation.name": "invoke_agent"},
                 events=(event(DETAILS, gen_ai__output__messages=ended),))  # fmt: skip
    call = {"gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.call.result": json.dumps([{"text": SHOWN}])}  # fmt: skip
    searched = span("tool", {**SYSTEM, **call}, parent="root", at=(0.2, 0.3))
    record = record_of(agent, searched, last)
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )
    assert record.dimensions.finish_reason == "end_turn"


def test_another_agents_spans_are_left_alone() -> None:
    assert list(strands.claims(span("x", {"gen_ai.system": "openai"}, events=(ASKED,)))) == []


ODD = ("strands-agents", "chat", "execute_tool", "invoke_agent", '[{"toolResult": [null]}]')


@given(spans_of(strands, "gen_ai.system", "content", "message", "gen_ai.choice", said=ODD))
def test_any_span_can_be_read(any_span: Span) -> None:
    said_of(strands, any_span)
