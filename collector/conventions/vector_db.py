"""Vector stores by OTel's database names: a search is a retrieval, even if it shows no text.

A span is a search if it has attributes of a vector search (`db.vector.query.*`), if its store is a
vector store, or if its statement compares vectors. Reading by id, counting and writing are no
retrievals. `openllmetry` reads hits in span events.
Sources: OTel's database conventions, openlit 1.45 and traceAI's instrumentors of vector stores.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from collector.claims.claim import Claim, Field, Listing, SpanRole
from collector.claims.documents import draft, listing
from collector.claims.recover import as_container, text, whole
from ragvigil.model.span import Attributes, Span

ROOTS = frozenset({"db"})

STORES = frozenset(
    {"chroma", "chromadb", "qdrant", "pinecone", "weaviate", "milvus", "lancedb", "pgvector",
     "pg_vector", "marqo", "vespa", "vald", "turbopuffer", "azure_ai_search"}
)  # fmt: skip
SEARCHES = frozenset(
    {"query", "search", "query_points", "query_batch_points", "query_points_groups", "knn",
     "search_points", "search_batch", "search_groups", "search_records", "hybrid", "bm25",
     "hybrid_search", "vector_search", "similarity_search", "knn_search", "ann_search",
     "near_text", "near_vector", "near_object", "recommend", "discover"}
)  # fmt: skip
WRITES = (
    "insert", "upsert", "add", "delete", "update", "create", "drop", "count", "peek", "describe",
    "upload", "set_", "overwrite", "clear", "replace", "list", "load", "import", "index",
)  # fmt: skip
EVIDENCE = frozenset(
    {"db.vector.query.top_k", "db.vector.query.content", "db.vector.query.embeddings_count",
     "db.vector.query.embedding_count", "db.vector.query.text_count", "db.vector.results.ids",
     "db.vector.query.vector_dimensions", "db.vector.query.num_candidates",
     "db.vector.query.similarity_threshold", "db.vector.query.score_threshold"}
)  # fmt: skip
STATEMENTS = {
    "postgres": re.compile(r"<=>|<#>"),
    "elasticsearch": re.compile(r'"(?:knn|semantic|sparse_vector|text_expansion)"'),
    "opensearch": re.compile(r'"(?:knn|neural|neural_sparse)"'),
    "redis": re.compile(r"\bKNN\b|\bVECTOR_RANGE\b|\bVSIM\b"),
    "mongodb": re.compile(r"\$vectorSearch\b"),
}
STATEMENT_LENGTH = 20_000
"""Characters of a statement that are searched for operators; more are a vector's numbers."""
COLLECTIONS = ("db.collection.name", "db.vector.collection.name", "db.vector.index.name")
QUERY_TEXTS = re.compile(r"texts=(\[.*\])", re.DOTALL)


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims of a search in a vector store."""
    attributes = span.attributes
    if not is_search(attributes, span.name):
        return
    yield Claim(Field.ROLE, SpanRole.RETRIEVER, 10)
    yield Claim(Field.QUERY, partial(_query_text, attributes.get("db.query.text")), 9)
    for name in ("db.vector.query.top_k", "db.n_results", "db.limit"):
        if name in attributes:
            yield Claim(Field.TOP_K, whole(attributes[name]) or None, 6)
    collection = next((text(attributes[name]) for name in COLLECTIONS if name in attributes), "")
    yield Claim(Field.INDEX_EPOCH, collection, 9)
    yield Claim(Field.RETRIEVED, partial(_results, attributes), 9)


def is_search(attributes: Attributes, name: str) -> bool:
    """Whether a span with these attributes and this name is a search for vectors."""
    system = text(attributes.get("db.system.name") or attributes.get("db.system")).lower()
    if not system:
        return False
    declared = attributes.get("db.operation.name") or attributes.get("db.operation")
    operation = (text(declared) or name.rpartition(".")[2]).lower()
    if operation.startswith(WRITES):
        return False
    if not EVIDENCE.isdisjoint(attributes):
        return True
    if system in STORES:
        return operation in SEARCHES and (system, operation) != ("milvus", "query")
    statement = text(attributes.get("db.query.text") or attributes.get("db.statement"))
    return _compares_vectors(system, statement[:STATEMENT_LENGTH])


def _compares_vectors(system: str, statement: str) -> bool:
    pattern = next(
        (expression for name, expression in STATEMENTS.items() if system.startswith(name)), None
    )
    if pattern is None:
        return False
    if system.startswith("postgres") and "<->" in statement:  # PostGIS has this operator as well
        return any(word in statement.lower() for word in ("vector", "embedding"))
    return pattern.search(statement) is not None


def _query_text(statement: object) -> str | None:
    """The query text as OpenLIT writes it for Chroma; None if there are several."""
    match = QUERY_TEXTS.fullmatch(text(statement)[: STATEMENT_LENGTH + 1])
    texts: object = None
    if match is not None:
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):  # no list of texts
            texts = ast.literal_eval(match[1])
    if isinstance(texts, list) and len(texts) == 1 and isinstance(texts[0], str):
        return texts[0] or None
    return None


def _results(attributes: Attributes) -> Listing | None:
    """The ids and scores of the hits; incomplete if there were more than are listed."""
    count = whole(attributes.get("db.vector.results.count"))
    returned = whole(attributes.get("db.response.returned_rows"))
    if count == 0 or (count is None and returned == 0):
        return Listing(())
    ids = _column(attributes.get("db.vector.results.ids"))
    if not ids:
        return None
    scores = _column(attributes.get("db.vector.results.scores"))
    same = len(scores) == len(ids)
    drafts = [
        draft(identifier, None, scores[i] if same else None) for i, identifier in enumerate(ids)
    ]
    documents = listing(drafts, complete=count is None or count == len(ids))
    return documents if isinstance(documents, Listing) else None


def _column(value: object) -> list[object]:
    container, complete = as_container(value)
    return container if isinstance(container, list) and complete else []
