"""Tools that search documents, by their names: then an empty result says that nothing was found."""

from __future__ import annotations

import re

from collector.claims.claim import Listing
from collector.claims.documents import LIST_KEYS
from collector.claims.field_names import says_nothing
from collector.claims.recover import as_container
from collector.claims.tool_results import unwrap

WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
RETRIEVERS = frozenset({"rag", "kb", "knowledge", "retriever", "retrieve", "retrieval"})
SEARCHES = frozenset({"search", "find", "query", "lookup", "look", "fetch", "get", "ask"})
COLLECTIONS = frozenset(
    {"document", "documents", "doc", "docs", "documentation", "passage", "passages", "chunk",
     "chunks", "article", "articles", "faq", "faqs", "context", "contexts", "source", "sources",
     "corpus", "wiki", "manual", "manuals", "vector", "vectors", "semantic", "similarity"}
)  # fmt: skip
WHOLE_NAMES = frozenset({("search",), ("file", "search"), ("get", "information")})
"""Names that say so only as they are: `get_user_information` returns no documents."""


def searches_documents(name: str) -> bool:
    """Whether a tool of this name searches documents.

    >>> [searches_documents(name) for name in ("searchDocuments", "Docs-find_docs", "retriever")]
    [True, True, True]
    >>> [searches_documents(name) for name in ("search_flights", "list_documents", "get_weather")]
    [False, False, False]
    """
    words = tuple(word.lower() for word in WORD.findall(name))
    if words in WHOLE_NAMES or not RETRIEVERS.isdisjoint(words):
        return True
    return not SEARCHES.isdisjoint(words) and not COLLECTIONS.isdisjoint(words)


def nothing_found(result: object) -> Listing | None:
    """An empty listing if the result of a search has no documents; None if it may have some.

    >>> nothing_found('{"documents": []}')
    Listing(documents=(), complete=True, slots=(), total=0)
    >>> nothing_found("No documents found.") == nothing_found("[]"), nothing_found("")
    (True, None)
    """
    inner = unwrap(result)
    container = as_container(inner).value
    if isinstance(container, dict):
        return Listing(()) if any(container.get(key) == [] for key in LIST_KEYS) else None
    is_empty = container == [] or (
        isinstance(inner, str) and bool(inner.strip()) and says_nothing(inner)
    )
    return Listing(()) if is_empty else None
