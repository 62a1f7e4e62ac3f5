"""TruLens: functions under `@instrument`, with and without an instrumentor of the client."""

from __future__ import annotations

import json
from collections.abc import Mapping

from hypothesis import given

from collector.conventions.traced_functions import trulens
from collector.record.build import records
from ragvigil.model.record import ContextSource
from ragvigil.model.span import AttributeValue, Span
from tests.garbage import said_of, spans_of
from tests.traces import ANSWER, DOCUMENTS, PROMPT, QUESTION, span, trace

OWN = "ai.observability."
TEXTS = [text for _, text in DOCUMENTS]
NAMES = [name for name, _ in DOCUMENTS]
FOUND = json.dumps([{"id": name, "text": text, "score": 0.5} for name, text in DOCUMENTS])


def traced(kind: str, more: Mapping[str, AttributeValue]) -> dict[str, AttributeValue]:
    return {f"{OWN}span_type": kind, **{f"{OWN}{name}": value for name, value in more.items()}}


def root() -> Span:
    said = {"record_root.input": QUESTION, "record_root.output": ANSWER}
    return span("query", traced("record_root", said))


def search(returned: str = FOUND) -> Span:
    said: dict[str, AttributeValue] = {
        "call.kwargs.query": QUESTION,
        "call.return": returned,
        "retrieval.query_text": QUESTION,
        "retrieval.retrieved_contexts": TEXTS,
    }
    plain: dict[str, AttributeValue] = {"gen_ai.retrieval.documents": TEXTS}
    return span("find", traced("retrieval", said) | plain, parent="query", at=(0.1, 0.2))


def generation(more: Mapping[str, AttributeValue]) -> Span:
    said = {"call.kwargs.query": QUESTION, "call.return": ANSWER, **more}
    return span("generate", traced("generation", said), parent="query", at=(0.3, 0.9))


def test_documents_among_the_arguments_of_a_generation_are_the_context() -> None:
    given_ = {"call.kwargs.context_str": [TEXTS[2], TEXTS[0]]}
    (record,) = records(trace(root(), search(), generation(given_)))
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [(d.chunk_id, d.score) for d in record.retrieved] == [(name, 0.5) for name in NAMES]
    assert [document.content for document in record.context] == [TEXTS[2], TEXTS[0]]
    assert record.context_source is ContextSource.DECLARED


def test_the_arguments_of_a_generation_are_no_prompt() -> None:
    """That the question alone is too short to show the chunks says nothing about the prompt."""
    (record,) = records(trace(root(), search(), generation({})))
    assert [document.chunk_id for document in record.context] == NAMES


def test_messages_among_the_arguments_of_a_generation_are_the_prompt() -> None:
    messages = json.dumps([{"role": "user", "content": PROMPT}])
    (record,) = records(trace(root(), search(), generation({"call.kwargs.messages": messages})))
    assert [document.chunk_id for document in record.context] == NAMES
    assert record.context_source is ContextSource.RETRIEVED


def test_contexts_are_the_chunks_where_the_function_returned_something_else() -> None:
    (record,) = records(trace(root(), search("3 documents"), generation({})))
    assert [document.content for document in record.retrieved] == TEXTS
    assert "document_ids" in record.absent


def test_texts_of_a_reranker_have_its_scores() -> None:
    said: dict[str, AttributeValue] = {
        "reranker.input_context_texts": TEXTS,
        "reranker.output_context_texts": [TEXTS[2], TEXTS[0]],
        "reranker.output_context_scores": [0.75, 0.5],
    }
    ranked = span("rank", traced("reranking", said), parent="query", at=(0.2, 0.3))
    (record,) = records(trace(root(), search(), ranked, generation({})))
    assert [(d.content, d.score) for d in record.reranked] == [(TEXTS[2], 0.75), (TEXTS[0], 0.5)]


@given(spans_of(trulens, said=(*trulens.ROLES, FOUND)))
def test_any_span_can_be_read(any_span: Span) -> None:
    said_of(trulens, any_span)
