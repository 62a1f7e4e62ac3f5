"""OpenLLMetry: numbered prompts, entities, vector stores' events, cut JSON."""

from __future__ import annotations

import json

import pytest

from collector.record.build import records
from ragvigil.model.record import Absent, ContextSource
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


def test_a_tools_result_among_numbered_prompts_may_be_a_list_of_documents() -> None:
    found = json.dumps([{"id": "a-1", "content": "First."}, {"id": "b-2", "content": "Second."}])
    call: dict[str, AttributeValue] = {
        "gen_ai.request.type": "chat",
        "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Why?",
        "gen_ai.prompt.1.role": "tool", "gen_ai.prompt.1.content": found,
        "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "So. [a-1]",
    }  # fmt: skip
    (record,) = records(trace(span("ask"), span("chat", call, parent="ask")))
    assert [document.chunk_id for document in record.context] == ["a-1", "b-2"]


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


def langchain(
    entity: str,
    documents: tuple[tuple[str, str], ...],
    *,
    parent: str = "root",
    at: tuple[float, float] = (0.1, 0.2),
    scores: tuple[float, ...] = (),
) -> Span:
    """A LangChain retriever, as its instrumentation writes it."""
    metadata = [{"doc_id": name} for name, _ in documents]
    for row, score in zip(metadata, scores, strict=False):
        row["relevance_score"] = score  # type: ignore[assignment]
    output = {
        "documents": [{"page_content": text, "metadata": row}
                      for row, (_, text) in zip(metadata, documents, strict=True)],
        "count": len(documents),
    }  # fmt: skip
    attributes: dict[str, AttributeValue] = {
        "traceloop.span.kind": "task",
        "gen_ai.operation.name": "vector_db_retrieve",
        "traceloop.entity.name": entity,
        "traceloop.entity.input": json.dumps({"query": QUESTION, "tags": [], "kwargs": {}}),
        "traceloop.entity.output": json.dumps(output),
    }
    return span("vector_db_retrieve", attributes, parent=parent, at=at, span_id=entity)


def test_langchains_retriever_speaks_through_its_entity() -> None:
    (record,) = records(trace(ROOT, langchain("VectorStoreRetriever", DOCUMENTS), chat()))
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )
    assert record.query == QUESTION


def test_langchains_compressed_list_is_reranked_and_what_was_retrieved_is_not_seen() -> None:
    kept = (DOCUMENTS[2], DOCUMENTS[0])
    compressor = langchain("ContextualCompressionRetriever", kept, scores=(0.9, 0.4))
    (record,) = records(trace(ROOT, compressor, chat()))
    assert [document.chunk_id for document in record.reranked] == ["acct-03", "refund-01"]
    assert [document.score for document in record.reranked] == [0.9, 0.4]
    assert (record.retrieved, record.absent["retrieved"]) == ((), Absent.NOT_SENT)
    assert "reranked" not in record.absent
    assert record.context_source is ContextSource.RERANKED
    assert record.query == QUESTION


def test_what_langchains_compressor_got_is_what_was_retrieved() -> None:
    compressor = langchain("ContextualCompressionRetriever", (DOCUMENTS[2],), at=(0.1, 0.25))
    inner = langchain("VectorStoreRetriever", DOCUMENTS, parent="ContextualCompressionRetriever")
    (record,) = records(trace(ROOT, compressor, inner, chat()))
    assert [document.chunk_id for document in record.retrieved] == NAMES
    assert [document.chunk_id for document in record.reranked] == ["acct-03"]


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


@pytest.mark.parametrize("has_text", [True, False])
def test_coheres_reranker_writes_index_and_score_before_the_text(has_text: bool) -> None:
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
            f"Doc {index}, Score: 0.{9 - number}\n{DOCUMENTS[index][1] if has_text else ''}"
        )
    rerank = span("cohere.rerank", attributes, parent="root", at=(0.2, 0.3))
    hits = [hit("db.query.result", id=n, document=t) for n, t in DOCUMENTS]
    (record,) = records(trace(ROOT, store(*hits), rerank, chat()))
    assert [(document.chunk_id, document.score) for document in record.reranked] == [
        ("acct-03", 0.9),
        ("refund-01", 0.8),
    ]


def step(name: str, inputs: str, documents: tuple[tuple[str, str], ...], at: float) -> Span:
    """A task of LlamaIndex, which returns nodes, each as a JSON text."""
    nodes = [
        json.dumps({"node": {"id_": name, "text": text}, "score": 0.5}) for name, text in documents
    ]
    attributes = {
        "traceloop.span.kind": "task", "traceloop.entity.name": f"{name}.task",
        "traceloop.entity.input": inputs, "traceloop.entity.output": json.dumps(nodes),
    }  # fmt: skip
    return span(name, attributes, parent="root", at=(at, at + 0.1))


def test_llamaindex_classes_of_the_users_own_are_known_by_what_they_take_and_return() -> None:
    bundle = json.dumps({"query_bundle": {"query_str": QUESTION}})
    search = step("ArticleSearch", bundle, DOCUMENTS, 0.1)
    order = step("Sorting", '{"nodes": []}', DOCUMENTS[1::-1], 0.3)
    (record,) = records(trace(span("root"), search, order, chat()))
    assert record.query == QUESTION
    assert [document.chunk_id for document in record.retrieved] == [name for name, _ in DOCUMENTS]
    assert [document.content for document in record.reranked] == [
        text for _, text in DOCUMENTS[1::-1]
    ]


def test_a_task_that_returns_no_nodes_is_no_retriever() -> None:
    attributes = {
        "traceloop.span.kind": "task", "traceloop.entity.name": "RetrieverQueryEngine.task",
        "traceloop.entity.input": "{\"query_bundle\": {}}",
        "traceloop.entity.output": "{\"response\": \"x\"}",
    }  # fmt: skip
    assert records(trace(span("root"), span("engine", attributes, parent="root"))) == ()


def engine(returned: str, *inner: Span) -> tuple[Span, ...]:
    """LlamaIndex' query engine and what it returned, as its `Response` is written."""
    attributes = {
        "traceloop.span.kind": "task", "traceloop.entity.name": "RetrieverQueryEngine.task",
        "traceloop.entity.input": json.dumps({"query_bundle": {"query_str": QUESTION}}),
        "traceloop.entity.output": returned,
    }  # fmt: skip
    return span("root", attributes), *inner


def test_llamaindex_without_chunks_answers_without_a_model() -> None:
    bundle = json.dumps({"query_bundle": {"query_str": QUESTION}})
    none = step("ArticleSearch", bundle, (), 0.1)
    (record,) = records(trace(*engine('{"response": "Empty Response", "metadata": null}', none)))
    assert (record.query, record.answer) == (QUESTION, "Empty Response")
    assert (record.retrieved, record.context) == ((), ())
    assert "retrieved" not in record.absent


def test_llamaindexs_response_is_the_answer_though_it_has_metadata() -> None:
    bundle = json.dumps({"query_bundle": {"query_str": QUESTION}})
    search = step("ArticleSearch", bundle, DOCUMENTS, 0.1)
    returned = json.dumps({"response": "Empty Response", "metadata": {"refund-01": {"page": 1}}})
    empty = {"gen_ai.completion.0.content": ""}
    (record,) = records(trace(*engine(returned, search, chat(**empty))))
    assert record.answer == "Empty Response"


def test_a_json_text_without_content_is_an_empty_answer() -> None:
    bundle = json.dumps({"query_bundle": {"query_str": QUESTION}})
    search = step("ArticleSearch", bundle, DOCUMENTS, 0.1)
    empty = {"gen_ai.completion.0.content": ""}
    (record,) = records(trace(*engine('""', search, chat(**empty))))
    assert record.answer == ""
