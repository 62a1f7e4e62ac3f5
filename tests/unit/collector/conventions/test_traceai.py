"""traceAI: its kinds, messages flattened under OTel's names, Java's raw input and output."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from collector.conventions import traceai
from collector.record.build import records
from ragvigil.model.record import Absent
from ragvigil.model.span import AttributeValue, Span
from tests.garbage import said_of, spans_of
from tests.traces import ANSWER, DOCUMENTS, PROMPT, QUESTION, span, trace

NAMES = [name for name, _ in DOCUMENTS]
ROOT = span("root", {"gen_ai.span.kind": "CHAIN"})


def chat(**more: AttributeValue) -> Span:
    attributes = {
        "gen_ai.span.kind": "LLM",
        "gen_ai.request.model": "m-1",
        "gen_ai.request.parameters": json.dumps({"temperature": 0.5, "max_tokens": 300}),
        "gen_ai.input.messages.0.message.role": "user",
        "gen_ai.input.messages.0.message.content": PROMPT,
        "gen_ai.output.messages.0.message.role": "assistant",
        "gen_ai.output.messages.0.message.content": ANSWER,
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.output_tokens.reasoning": 3,
        **more,
    }
    return span("ChatOpenAI", attributes, parent="root", at=(0.3, 0.9))


def found(kind: str = "gen_ai.span.kind", **more: AttributeValue) -> Span:
    attributes: dict[str, AttributeValue] = {kind: "RETRIEVER", "input.value": QUESTION, **more}
    for index, (name, text) in enumerate(DOCUMENTS):
        attributes[f"retrieval.documents.{index}.document.content"] = text
        attributes[f"retrieval.documents.{index}.document.metadata"] = json.dumps({"doc_id": name})
    return span("VectorStoreRetriever", attributes, parent="root", at=(0.1, 0.2))


@pytest.mark.parametrize("kind", ["gen_ai.span.kind", "fi.span.kind"])
def test_a_retrieval_and_an_answer_make_a_whole_record(kind: str) -> None:
    (record,) = records(trace(ROOT, found(kind), chat()))
    assert record.query == QUESTION
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )
    assert [document.chunk_id for document in record.context] == NAMES
    assert record.answer == ANSWER
    assert [citation.chunk_id for citation in record.citations] == ["refund-01"]
    assert record.usage is not None
    assert (record.usage.input_tokens, record.dimensions.temperature) == (12, 0.5)


def test_messages_alone_carry_the_answer_where_no_output_does() -> None:
    bare = span("root", {})
    (record,) = records(trace(bare, found(), chat()))
    assert record.answer == ANSWER
    attributes = dict(chat().attributes)
    del attributes["gen_ai.output.messages.0.message.content"]
    attributes["gen_ai.output.messages.0.message.contents.0.message_content.type"] = "text"
    attributes["gen_ai.output.messages.0.message.contents.0.message_content.text"] = ANSWER
    in_parts = span("llm", attributes, parent="root", at=(0.3, 0.9))
    (record,) = records(trace(bare, found(), in_parts))
    assert record.answer == ANSWER


def test_java_writes_raw_input_and_output() -> None:
    documents = [{"id": name, "content": text} for name, text in DOCUMENTS]
    retrieval = span(
        "Search",
        {
            "fi.span.kind": "RETRIEVER",
            "fi.raw_input": json.dumps({"query": QUESTION}),
            "fi.raw_output": json.dumps({"documents": documents}),
        },
        parent="root",
        at=(0.1, 0.2),
    )
    (record,) = records(trace(ROOT, retrieval, chat()))
    assert record.query == QUESTION
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )


def test_an_embedding_or_a_judge_is_no_answer() -> None:
    judge = span("judge", {**chat(**{"gen_ai.span.kind": "EVALUATOR"}).attributes,
                           "gen_ai.output.messages.0.message.content": "0.9"},
                 parent="root", at=(0.95, 0.99))  # fmt: skip
    (record,) = records(trace(ROOT, found(), chat(), judge))
    assert record.answer == ANSWER


def test_a_compressing_retriever_reranks() -> None:
    kept = DOCUMENTS[:1]
    attributes: dict[str, AttributeValue] = {"gen_ai.span.kind": "RETRIEVER"}
    for index, (name, text) in enumerate(kept):
        attributes[f"retrieval.documents.{index}.document.content"] = text
        attributes[f"retrieval.documents.{index}.document.metadata"] = json.dumps({"doc_id": name})
    outer = span("ContextualCompressionRetriever", attributes, parent="root", at=(0.1, 0.25))
    inner = found()
    (record,) = records(trace(ROOT, outer, inner, chat()))
    assert [document.chunk_id for document in record.reranked] == ["refund-01"]
    assert [document.chunk_id for document in record.retrieved] == NAMES


def test_redacted_content_is_hidden_and_not_text() -> None:
    hidden = "__REDACTED__"
    retrieval = span("r", {"gen_ai.span.kind": "RETRIEVER", "input.value": hidden,
                           "retrieval.documents.0.document.content": hidden},
                     parent="root", at=(0.1, 0.2))  # fmt: skip
    model = span("m", {"gen_ai.span.kind": "LLM", "fi.raw_output": hidden,
                       "gen_ai.input.messages.0.message.content": hidden,
                       "gen_ai.output.messages.0.message.content": hidden},
                 parent="root", at=(0.3, 0.9))  # fmt: skip
    (record,) = records(trace(ROOT, retrieval, model))
    assert (record.answer, record.query, record.retrieved) == (None, None, ())
    assert record.absent["answer"] is Absent.HIDDEN
    assert record.absent["retrieved"] is Absent.HIDDEN


def test_a_span_of_another_convention_is_left_alone() -> None:
    other = span("x", {"gen_ai.operation.name": "chat", "openinference.span.kind": "LLM"})
    assert list(traceai.claims(other)) == []


NUMBERED = ("gen_ai.input.messages.0.message.content", "retrieval.documents.0.document.metadata")


@given(spans_of(traceai, *NUMBERED, "output.value", said=("LLM", "RETRIEVER", "TOOL")))
def test_any_span_can_be_read(any_span: Span) -> None:
    said_of(traceai, any_span)
