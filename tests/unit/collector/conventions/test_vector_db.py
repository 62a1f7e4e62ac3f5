"""Vector stores: which statements are searches, and what ids alone can tell."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from collector.conventions import vector_db
from collector.record.build import records
from ragvigil.model.record import Absent, RagRecord
from ragvigil.model.span import AttributeValue, Span
from tests.garbage import said_of, spans_of
from tests.traces import ANSWER, DOCUMENTS, PROMPT, QUESTION, llm, span, trace

NAMES = [name for name, _ in DOCUMENTS]
BARE = f"Answer this: {QUESTION}"
SYSTEMS = ("chroma", "qdrant", "pinecone", "weaviate", "lancedb", "pgvector")


def store(name: str = "search", **attributes: AttributeValue) -> Span:
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    return span(name, named, parent="root", at=(0.1, 0.2))


def record_of(found: Span, prompt: str = PROMPT) -> RagRecord:
    (record,) = records(trace(span("root"), found, llm(answer=ANSWER, prompt=prompt)))
    return record


def listed(count: int = 3, **more: AttributeValue) -> Span:
    return store(
        db__system="pinecone",
        db__operation__name="query",
        db__vector__index__name="kb-v7",
        db__vector__query__top_k=5,
        db__vector__results__count=count,
        db__vector__results__ids=json.dumps(NAMES),
        db__vector__results__scores=json.dumps([0.9, 0.8, 0.7]),
        **more,
    )


def test_ids_and_an_answer_make_a_record_whose_texts_are_the_prompts() -> None:
    record = record_of(listed())
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )
    assert [document.score for document in record.retrieved] == [0.9, 0.8, 0.7]
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert (record.dimensions.top_k, record.dimensions.index_epoch) == (5, "kb-v7")


def test_the_first_ids_of_more_are_no_whole_list() -> None:
    record = record_of(listed(count=20), BARE)
    assert record.retrieved == ()
    assert record.absent["retrieved"] is Absent.TRUNCATED


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("name", ["db.system", "db.system.name"])
@pytest.mark.parametrize("operation", ["db.operation", "db.operation.name", ""])
def test_a_search_without_any_text_is_a_retrieval(system: str, name: str, operation: str) -> None:
    attributes: dict[str, AttributeValue] = {name: system}
    if operation:
        attributes[operation] = "query"
    found = span(f"{system}.query", attributes, parent="root", at=(0.1, 0.2))
    record = record_of(found, BARE)
    assert (record.answer, record.retrieved) == (ANSWER, ())
    assert "retrieved" in record.absent
    assert record.latencies.retrieval == pytest.approx(0.1)


STATEMENTS = (
    ("postgresql", "SELECT id, body FROM chunks ORDER BY embedding <=> $1 LIMIT 4"),
    ("postgresql", "SELECT body FROM chunks ORDER BY embedding <-> $1 LIMIT 4"),
    ("elasticsearch", '{"knn": {"field": "vector", "k": 4}}'),
    ("opensearch", '{"query": {"neural": {"embedding": {"query_text": "?"}}}}'),
    ("redis", "FT.SEARCH idx (*)=>[KNN 4 @vector $v]"),
    ("mongodb", '{"aggregate": "chunks", "pipeline": [{"$vectorSearch": {}}]}'),
)


@pytest.mark.parametrize(("system", "statement"), STATEMENTS)
@pytest.mark.parametrize("name", ["db.query.text", "db.statement"])
def test_a_statement_that_compares_vectors_is_a_retrieval(
    system: str, statement: str, name: str
) -> None:
    found = span("SELECT", {"db.system": system, name: statement}, parent="root", at=(0.1, 0.2))
    assert record_of(found, BARE).answer == ANSWER


@pytest.mark.parametrize(
    "attributes",
    [
        {"db.system": "postgresql", "db.query.text": "SELECT * FROM users WHERE id = $1"},
        {"db.system": "postgresql", "db.query.text": "SELECT name FROM shops ORDER BY at <-> $1"},
        {"db.system": "elasticsearch", "db.query.text": '{"match": {"body": "?"}}'},
        {"db.system": "redis", "db.query.text": "GET session:1"},
        {"db.system": "mongodb", "db.operation": "find"},
        {"db.system": "mysql", "db.query.text": "SELECT a <=> b"},
        {"db.system": "chroma", "db.operation.name": "upsert", "db.vector.query.top_k": 3},
        {"db.system": "qdrant", "db.operation.name": "retrieve"},
        {"db.system": "milvus", "db.operation.name": "query"},
        {"db.system": "chroma", "db.operation.name": "count"},
        {"db.vector.query.top_k": 3},
    ],
)
def test_other_statements_and_writing_are_no_retrievals(
    attributes: dict[str, AttributeValue],
) -> None:
    other = span("SELECT", attributes, parent="root", at=(0.1, 0.2))
    assert records(trace(span("root"), other, llm(prompt=BARE))) == ()


@pytest.mark.parametrize("empty", ["db.vector.results.count", "db.response.returned_rows"])
def test_nothing_found_is_an_empty_list_and_not_an_unknown_one(empty: str) -> None:
    attributes: dict[str, AttributeValue] = {"db.system": "qdrant", "db.operation": "search",
                                             empty: 0}  # fmt: skip
    record = record_of(span("search", attributes, parent="root", at=(0.1, 0.2)), BARE)
    assert record.retrieved == ()
    assert "retrieved" not in record.absent


def test_the_one_text_that_was_searched_for_is_the_question() -> None:
    found = store(db__system__name="chroma", db__operation__name="GET", db__vector__query__top_k=4,
                  db__query__text=f"texts=[{QUESTION!r}]")  # fmt: skip
    assert record_of(found, PROMPT.partition("Question:")[0]).query == QUESTION


ODD = ("chroma", "query", "texts=[", "texts=['a']", '["a", null]', "[" * 99, "postgresql", "<->")


@given(spans_of(vector_db, "db.system", "db.operation", "db.query.text", said=ODD))
def test_any_span_can_be_read(any_span: Span) -> None:
    said_of(vector_db, any_span)
