"""Monocle: content in events, messages by role, and a retriever of which only the start is sent."""

from __future__ import annotations

import json

from hypothesis import given

from collector.conventions import monocle
from collector.record.build import records
from ragvigil.model.record import Absent, ContextSource
from ragvigil.model.span import AttributeValue, Event, Span
from tests.garbage import said_of, spans_of
from tests.traces import ANSWER, DOCUMENTS, PROMPT, QUESTION, span, trace

CALL = {"name": "search_docs", "args": {"query": QUESTION}, "type": "tool_call"}


def step(kind: str, given: object, returned: object, *, name: str = "", **more: object) -> Span:
    attributes: dict[str, AttributeValue] = {
        "monocle_apptrace.version": "0.8",
        "span.type": kind,
        "entity.1.name": name,
        "entity.2.name": "small",
    }
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "finish_reason": "stop"}
    content = {
        "data.input": {"input": given},
        "data.output": {"response": returned},
        "metadata": usage if kind.startswith("inference") else {},
    }
    events = tuple(
        Event(name=event, time_unix_nano=1, attributes=values)  # type: ignore[arg-type]
        for event, values in content.items()
    )
    return span(name or kind, attributes, events=events, **more)  # type: ignore[arg-type]


def model(answer: object, *asked: dict[str, object], **more: object) -> Span:
    given = [json.dumps(message) for message in asked]
    return step("inference.framework", given, json.dumps(answer), parent="workflow", **more)


def test_a_chain_is_read_from_its_prompt_as_the_retrievers_text_is_cut() -> None:
    (record,) = records(
        trace(
            step("workflow", None, None),
            step("retrieval", QUESTION, f"{DOCUMENTS[0][1]}...", parent="workflow", at=(0.1, 0.2)),
            model({"ai": ANSWER}, {"system": "Cite."}, {"human": PROMPT}, at=(0.3, 0.9)),
        )
    )
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [document.chunk_id for document in record.retrieved] == [name for name, _ in DOCUMENTS]
    assert record.context_source is ContextSource.PROMPT
    assert record.usage is not None
    assert (record.usage.input_tokens, record.usage.output_tokens) == (9, 4)
    assert record.dimensions.llm_model == "small"


def test_a_retriever_whose_text_is_cut_is_truncated_where_no_prompt_shows_its_chunks() -> None:
    (record,) = records(
        trace(
            step("workflow", None, None),
            step("retrieval", QUESTION, "The first text...", parent="workflow", at=(0.1, 0.2)),
            model({"ai": ANSWER}, {"human": QUESTION}, at=(0.3, 0.9)),
        )
    )
    assert record.absent["retrieved"] is Absent.TRUNCATED


def test_an_agents_tool_is_the_retrieval_and_its_call_no_answer() -> None:
    found = "\n".join(f"[{name}] {text}" for name, text in DOCUMENTS)
    asked = {"human": QUESTION}
    (record,) = records(
        trace(
            step("workflow", None, None),
            model({"ai": CALL}, asked, at=(0.1, 0.2), name="call"),
            step(
                "agentic.tool.invocation",
                str({"query": QUESTION}),
                found,
                name="search_docs",
                parent="workflow",
                at=(0.2, 0.3),
            ),
            model({"ai": ANSWER}, asked, {"ai": [CALL]}, {"tool": found}, at=(0.4, 0.9)),
        )
    )
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [document.chunk_id for document in record.retrieved] == [name for name, _ in DOCUMENTS]


def test_another_vendors_span_type_is_not_read() -> None:
    assert not list(monocle.claims(span("web", {"span.type": "retrieval"})))


@given(spans_of(monocle, "input", "response", said=tuple(monocle.ROLES)))
def test_any_span_can_be_read(any_span: Span) -> None:
    said_of(monocle, any_span)
