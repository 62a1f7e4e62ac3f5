"""OpenLLMetry: numbered prompts, entities, vector stores' events, cut JSON."""

from __future__ import annotations

import json

import pytest

from collector.record.build import records
from ragvigil.model.record import Absent
from ragvigil.model.span import AttributeValue, Event, Span
from tests.traces import ANSWER, DOCUMENTS, PROMPT, QUESTION, span, trace

NAMES = [name for name, _ in DOCUMENTS]
ROOT = span("root", {"traceloop.span.kind": "workflow", "traceloop.workflow.name": "help"})


def chat(**more: AttributeValue) -> Span:
    attributes = {
        "llm.request.type": "chat",
        "gen_ai.system": "mistral",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": PROMPT,
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": ANSWER,
        "gen_ai.completion.0.finish_reason": "stop",
        **more,
    }
    return span("chat", attributes, parent="root", at=(0.3, 0.9))


def hit(name: str, **attributes: AttributeValue) -> Event:
    named = {f"{name}.{key}": value for key, value in attributes.items()}
    return Event(name=name, time_unix_nano=1, attributes=named)


def store(*events: Event) -> Span:
    attributes: dict[str, AttributeValue] = {"db.system": "chroma", "db.operation": "query",
                                             "db.vector.query.top_k": 7}  # fmt: skip
    return span("chroma.query", attributes, parent="root", at=(0.1, 0.2), events=events)


def test_numbered_prompts_and_completions_are_read() -> None:
    (record,) = records(trace(ROOT, chat()))
    assert (record.answer, record.query) == (ANSWER, QUESTION)
    assert record.dimensions.finish_reason == "stop"
    assert record.route == "help"


def test_numbered_content_may_be_json_parts() -> None:
    parts = json.dumps([{"type": "text", "text": PROMPT}])
    (record,) = records(trace(ROOT, chat(**{"gen_ai.prompt.0.content": parts})))
    assert [document.chunk_id for document in record.context] == NAMES


@pytest.mark.parametrize(
    "hits",
    [
        [hit("db.query.result", id=n, document=t, distance=0.2, metadata="{}")
         for n, t in DOCUMENTS],
        [hit("db.query.result", id="92dbf133442a412cb9a3c166e7f3dd2f", document=t,
             metadata=str({"chunk_id": n, "page": None})) for n, t in DOCUMENTS],
        [hit("db.search.result", id=7, distance=0.1, entity=json.dumps({"id": n, "text": t}))
         for n, t in DOCUMENTS],
    ],
)  # fmt: skip
def test_a_vector_stores_hits_are_what_was_retrieved(hits: list[Event]) -> None:
    (record,) = records(trace(ROOT, store(*hits), chat()))
    assert [document.content for document in record.retrieved] == [text for _, text in DOCUMENTS]
    assert record.dimensions.top_k == 7


def test_hits_without_text_get_it_from_the_prompt() -> None:
    hits = [hit("db.query.result", id=name, score=0.5, metadata="{'a': None}") for name in NAMES]
    (record,) = records(trace(ROOT, store(*hits), chat()))
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )


def test_writing_to_a_vector_store_is_no_retrieval() -> None:
    upsert = span("chroma.upsert", {"db.system": "chroma", "db.operation": "upsert"}, parent="root")
    talk = chat(**{"gen_ai.prompt.0.content": "Say hello."})
    assert records(trace(ROOT, upsert, talk)) == ()


def test_langchains_retriever_speaks_through_its_entity() -> None:
    output = {"documents": [{"page_content": t, "metadata": {"doc_id": n}} for n, t in DOCUMENTS],
              "count": 3}  # fmt: skip
    attributes = {
        "traceloop.span.kind": "task",
        "gen_ai.operation.name": "vector_db_retrieve",
        "traceloop.entity.name": "VectorStoreRetriever",
        "traceloop.entity.input": json.dumps({"query": QUESTION, "tags": [], "kwargs": {}}),
        "traceloop.entity.output": json.dumps(output),
    }
    found = span("vector_db_retrieve", attributes, parent="root", at=(0.1, 0.2))
    (record,) = records(trace(ROOT, found, chat()))
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )
    assert record.query == QUESTION


def test_an_entity_that_was_cut_is_truncated_and_never_a_shorter_list() -> None:
    output = json.dumps({"documents": [{"page_content": t, "metadata": {"doc_id": n}}
                                       for n, t in DOCUMENTS]})[:150]  # fmt: skip
    attributes = {
        "traceloop.span.kind": "task",
        "traceloop.entity.name": "BM25Retriever.task",
        "traceloop.entity.output": output,
    }
    found = span("BM25Retriever.task", attributes, parent="root", at=(0.1, 0.2))
    talk = chat(**{"gen_ai.prompt.0.content": "hidden elsewhere"})
    (record,) = records(trace(ROOT, found, talk))
    assert record.retrieved == ()
    assert record.absent["retrieved"] is Absent.TRUNCATED


def test_coheres_reranker_writes_index_and_score_before_the_text() -> None:
    attributes: dict[str, AttributeValue] = {
        "llm.request.type": "rerank",
        "gen_ai.system": "cohere",
    }
    for number, (_, text) in enumerate(DOCUMENTS):
        attributes[f"gen_ai.prompt.{number}.role"] = "system"
        attributes[f"gen_ai.prompt.{number}.content"] = text
    attributes["gen_ai.prompt.3.role"] = "user"
    attributes["gen_ai.prompt.3.content"] = QUESTION
    for number, index in enumerate((2, 0)):
        attributes[f"gen_ai.completion.{number}.content"] = (
            f"Doc {index}, Score: 0.{9 - number}\n{DOCUMENTS[index][1]}"
        )
    rerank = span("cohere.rerank", attributes, parent="root", at=(0.2, 0.3))
    hits = [hit("db.query.result", id=n, document=t) for n, t in DOCUMENTS]
    (record,) = records(trace(ROOT, store(*hits), rerank, chat()))
    assert [(document.chunk_id, document.score) for document in record.reranked] == [
        ("acct-03", 0.9),
        ("refund-01", 0.8),
    ]
