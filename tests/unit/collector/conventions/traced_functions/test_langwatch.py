"""LangWatch: typed inputs and outputs, and the chunks of a search as an attribute of their own."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from collector.conventions.traced_functions import langwatch
from collector.record.build import records
from ragvigil.model.record import ContextSource
from ragvigil.model.span import AttributeValue, Span
from tests.garbage import said_of, spans_of
from tests.traces import ANSWER, DOCUMENTS, PROMPT, QUESTION, span, trace

CHUNKS = [{"document_id": "help", "chunk_id": name, "content": text} for name, text in DOCUMENTS]
SHOWN = PROMPT.replace(f"[ship-02] {dict(DOCUMENTS)['ship-02']}\n", "")


def typed(kind: str, value: object) -> str:
    return json.dumps({"type": kind, "value": value})


def ask() -> Span:
    attributes: dict[str, AttributeValue] = {
        "langwatch.span.type": "span",
        "langwatch.input": typed("text", QUESTION),
        "langwatch.output": typed("text", ANSWER),
        "langwatch.thread.id": "t-1",
    }
    return span("ask", attributes)


def search(name: str, contexts: str) -> Span:
    attributes: dict[str, AttributeValue] = {
        "langwatch.span.type": "rag",
        "langwatch.input": typed("json", {"q": QUESTION}),
        "langwatch.output": typed("json", [text for _, text in DOCUMENTS]),
        name: contexts,
    }
    return span("find", attributes, parent="ask", at=(0.1, 0.2))


def chat(metrics: str) -> Span:
    attributes: dict[str, AttributeValue] = {
        "langwatch.span.type": "llm",
        "langwatch.input": typed("chat_messages", [{"role": "user", "content": SHOWN}]),
        "langwatch.output": typed("chat_messages", [{"role": "assistant", "content": ANSWER}]),
        "langwatch.metrics": metrics,
        "gen_ai.request.model": "openai/small",
    }
    return span("llm", attributes, parent="ask", at=(0.3, 0.9))


PYTHON = (
    search("langwatch.rag_contexts", json.dumps(CHUNKS)),
    chat(json.dumps({"prompt_tokens": 5, "completion_tokens": 3})),
)
JAVASCRIPT = (
    search("langwatch.contexts", typed("json", CHUNKS)),
    chat(typed("json", {"promptTokens": 5, "completionTokens": 3})),
)


@pytest.mark.parametrize("steps", [PYTHON, JAVASCRIPT], ids=["python", "javascript"])
def test_all_of_an_answer_arrives(steps: tuple[Span, ...]) -> None:
    (record,) = records(trace(ask(), *steps))
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [document.chunk_id for document in record.retrieved] == [name for name, _ in DOCUMENTS]
    assert [document.chunk_id for document in record.context] == ["refund-01", "acct-03"]
    assert record.context_source is ContextSource.RETRIEVED
    assert [citation.chunk_id for citation in record.citations] == ["refund-01"]
    assert (record.usage.input_tokens, record.usage.output_tokens) == (5, 3)
    assert (record.dimensions.llm_model, record.session_id) == ("openai/small", "t-1")


def test_a_search_without_chunks_found_nothing() -> None:
    (record,) = records(trace(ask(), search("langwatch.rag_contexts", "[]"), PYTHON[1]))
    assert record.retrieved == ()
    assert "retrieved" not in record.absent


@given(spans_of(langwatch, said=(*langwatch.ROLES, typed("json", CHUNKS), json.dumps(CHUNKS))))
def test_any_span_can_be_read(any_span: Span) -> None:
    said_of(langwatch, any_span)
