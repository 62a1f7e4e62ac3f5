"""Parses documents in the many shapes that frameworks write."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from collector.claims.claim import Listing, Withheld
from collector.claims.recover import as_container, looks_structured, number, text
from ragvigil.model.record import Document

REDACTED = "__REDACTED__"
EXPLICIT_ID_KEYS = ("chunk_id", "chunkId", "segment_id", "x-amz-bedrock-kb-chunk-id")
CHUNK_ID_KEYS = ("id", "_id", "uuid", "node_id", "passage_id", "point_id")
LONGEST_ID = 512
"""Characters of an id: more than paths, hashes and most URLs have."""
DOCUMENT_ID_KEYS = (
    "doc_id", "document_id", "docId", "documentId", "ref_doc_id", "source_id", "file_id",
)  # fmt: skip
ORIGIN_KEYS = (
    *DOCUMENT_ID_KEYS, "source", "file_name", "filename", "file_path", "doc_uri", "url", "uri",
    "title", "name",
)  # fmt: skip
CONTENT_KEYS = (
    "page_content", "content", "text", "document", "page_text", "chunk_text", "passage", "chunk",
)  # fmt: skip
SCORE_KEYS = ("score", "relevance_score", "relevanceScore", "similarity", "distance", "_score")
RERANK_SCORE_KEYS = ("relevance_score", "relevanceScore", "rerank_score", "reranker_score")
LIST_KEYS = (
    "documents", "docs", "source_documents", "context", "contexts", "results", "nodes", "matches",
    "source_nodes", "chunks", "passages", "hits", "retrieved_documents", "retrieved_contexts",
    "retrievalResults", "search_results", "sources",
)  # fmt: skip
CACHED_LENGTH = 4096
"""Characters; longer texts are not kept in the cache of fingerprints."""
NO_METADATA: Mapping[str, object] = {}
MACHINE_ID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-fA-F]{32,}")


class Draft(NamedTuple):
    """A document before its id is decided, which depends on the whole list."""

    id: str
    content: str | None
    score: float | None
    metadata: Mapping[str, object]


def fingerprint(content: str) -> str:
    """32 hex characters that identify a text, the same in every process.

    >>> fingerprint("refund")
    'b83f5893edae0b6a25c54d12c967a20d'
    """
    return _short_digest(content) if len(content) <= CACHED_LENGTH else _digest(content)


def _digest(content: str) -> str:
    return blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


# A chunk occurs in several lists of a trace, and popular chunks in many traces.
_short_digest = lru_cache(maxsize=2048)(_digest)


def is_machine_id(identifier: str) -> bool:
    """Whether a framework generated this id (a UUID or a digest).

    >>> is_machine_id("92dbf133-442a-412c-b9a3-c166e7f3dd2f"), is_machine_id("refund-03")
    (True, False)
    """
    return len(identifier) >= 32 and MACHINE_ID.fullmatch(identifier) is not None


def _first(metadata: Mapping[str, object], keys: Iterable[str]) -> str:
    for key in keys:
        if key in metadata:
            value = text(metadata[key])
            if value and value != REDACTED:
                return value
    return ""


def draft(
    identifier: object = None, content: object = None, score: object = None, metadata: object = None
) -> Draft:
    """A draft from the four values that most conventions have, whatever their types."""
    kept: Mapping[str, object] = NO_METADATA
    if metadata is not None and metadata != REDACTED:
        container = metadata if isinstance(metadata, dict) else as_container(metadata).value
        if isinstance(container, dict):
            kept = container
    if content is None and kept:
        content = _content(kept)  # Pinecone and Qdrant keep the text in the metadata
    own = identifier if type(identifier) is str else text(identifier)
    return Draft(
        "" if own == REDACTED else own,
        content if isinstance(content, str) and content != REDACTED else None,
        # The usual case without the call of number().
        score if type(score) is float and -1e300 < score < 1e300 else number(score),
        kept,
    )


def short_id(name: str) -> str:
    """The id itself, up to LONGEST_ID; of a longer one its beginning and its fingerprint.

    Each citation of a chunk repeats its id: with long ones a record would grow to gigabytes.
    """
    if len(name) <= LONGEST_ID:
        return name
    return f"{name[:LONGEST_ID]}…{fingerprint(name)}"


def _shared_ids(drafts: list[Draft]) -> set[str]:
    """Document ids in the metadata that several different texts share: they identify no chunk."""
    texts: dict[str, str | None] = {}
    shared: set[str] = set()
    for draft_ in drafts:
        document_id = _first(draft_.metadata, DOCUMENT_ID_KEYS)
        if document_id and texts.setdefault(document_id, draft_.content) != draft_.content:
            shared.add(document_id)
    return shared


def _chunk_id(draft_: Draft, shared: set[str], text_hash: str) -> str:
    """An explicit chunk id, else the user's own id, else a generated id, else the text's hash."""
    explicit = _first(draft_.metadata, EXPLICIT_ID_KEYS)
    if explicit:
        return explicit
    if draft_.id and not is_machine_id(draft_.id):
        return draft_.id
    inner = _first(draft_.metadata, CHUNK_ID_KEYS)
    if inner and not is_machine_id(inner):
        return inner
    document_id = _first(draft_.metadata, DOCUMENT_ID_KEYS)
    if document_id and document_id not in shared and not is_machine_id(document_id):
        return document_id
    return draft_.id or inner or (document_id if document_id not in shared else "") or text_hash


def build(drafts: list[Draft]) -> tuple[Document, ...]:
    """Documents in order with `rank` = position; prefers the user's id to a framework's.

    >>> build([draft("92dbf133442a412cb9a3c166e7f3dd2f", "a", 1, {"doc_id": "d-1"})])[0].chunk_id
    'd-1'
    """
    shared = _shared_ids(drafts) if any(draft_.metadata for draft_ in drafts) else set()
    return tuple([_document(rank, draft_, shared) for rank, draft_ in enumerate(drafts)])


def _document(rank: int, draft_: Draft, shared: set[str]) -> Document:
    own, content, score, metadata = draft_
    text_hash = fingerprint(content) if content is not None else ""
    return Document(
        chunk_id=short_id(_chunk_id(draft_, shared, text_hash) if metadata else own or text_hash),
        content=content,
        document_id=short_id(_first(metadata, ORIGIN_KEYS)) if metadata else "",
        text_hash=text_hash,
        score=score,
        rank=rank,
        metadata=metadata,
    )


def listing(drafts: list[Draft], *, complete: bool = True) -> Listing | Withheld:
    """The drafts as a listing; HIDDEN if all of them lack both id and text."""
    documents = build(drafts)
    if documents and not any(document.chunk_id for document in documents):
        return Withheld.HIDDEN
    return Listing(documents, complete)


def listed_under(
    name: str, value: object, content: Callable[[Mapping[str, object]], object]
) -> Listing | Withheld | None:
    """The documents that JSON lists under a name, with ids and scores in their metadata.

    `content` gives the text of an entry. None where the JSON is whole and lists nothing there.
    """
    body, complete = as_container(value)
    entries = body.get(name) if isinstance(body, dict) else None
    if not isinstance(entries, list):
        return None if complete else Withheld.TRUNCATED
    drafts = []
    for entry in entries:
        if isinstance(entry, dict):
            metadata = entry.get("metadata")
            score = metadata.get("score") if isinstance(metadata, dict) else None
            drafts.append(draft(None, content(entry), score, metadata))
    return listing(drafts, complete=complete)


def with_rerank_scores(documents: Iterable[Document]) -> tuple[Document, ...]:
    """Documents that a reranker returned, with the score that it left in their metadata.

    LangChain's rerankers have no other place for it.

    >>> document = Document(chunk_id="a", metadata={"relevance_score": 0.5})
    >>> with_rerank_scores([document])[0].score
    0.5
    """
    return tuple(
        replace(document, score=number(_first(document.metadata, RERANK_SCORE_KEYS)))
        if document.score is None and document.metadata
        else document
        for document in documents
    )


def draft_of(entry: object) -> Draft | None:
    """A draft from an entry of a document list in any framework's shape; None if it is no document.

    Parses LangChain (plain and serialised), LlamaIndex nodes with score, Haystack's flattened
    meta, Bedrock, Chroma, vector stores' matches, and JSON text of any of these.
    """
    if isinstance(entry, str):
        if not looks_structured(entry):
            return None
        entry = as_container(entry).value
    if not isinstance(entry, dict):
        return None
    entry = _unwrapped(entry)
    content = _content(entry)
    identifier = _first(entry, ("id", "id_", "_id", "chunk_id", "node_id", "document_id", "doc_id"))
    if content is None and not identifier:
        return None
    return draft(identifier, content, _score(entry), _metadata(entry))


def _unwrapped(entry: dict[str, object]) -> Mapping[str, object]:
    """The document inside LangChain's serialised form or LlamaIndex' node with score.

    OpenAI's file search keeps the names of the file beside the user's attributes.
    """
    inner = entry.get("kwargs")
    if isinstance(inner, dict) and "lc" in entry:
        return inner
    if "file_id" in entry:
        attributes = entry.get("attributes")
        names = {key: entry[key] for key in ("file_id", "filename") if key in entry}
        own = attributes if isinstance(attributes, dict) else {}
        return {**entry, "metadata": {**names, **own}}
    node = as_container(entry.get("node")).value
    return {**node, "score": entry.get("score")} if isinstance(node, dict) else entry


def _content(entry: Mapping[str, object]) -> str | None:
    for key in CONTENT_KEYS:
        value = entry.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, dict) and isinstance(value.get("text"), str):
            return str(value["text"])
        if isinstance(value, list) and entry.get("type") == "search_result":
            texts = [part.get("text") for part in value if isinstance(part, dict)]
            return "\n".join(part for part in texts if isinstance(part, str)) or None
    resource = entry.get("text_resource")
    inner = resource.get("text") if isinstance(resource, dict) else None
    return inner if isinstance(inner, str) else None


def _score(entry: Mapping[str, object]) -> float | None:
    for key in SCORE_KEYS:
        score = number(entry.get(key))
        if score is not None:
            return score
    return None


def _metadata(entry: Mapping[str, object]) -> Mapping[str, object]:
    for key in ("metadata", "meta", "extra_info", "payload", "attributes"):
        metadata = entry.get(key)
        if isinstance(metadata, (dict, str)):
            container = as_container(metadata).value
            if isinstance(container, dict):
                return container
    skipped = {*CONTENT_KEYS, *SCORE_KEYS, "embedding", "vector", "id", "id_", "type"}
    return {key: value for key, value in entry.items() if key not in skipped}


def find_documents(value: object, *, depth: int = 4) -> Listing | Withheld | None:
    """The first list of documents in a payload; None if there is none.

    >>> listing = find_documents('{"documents": [{"page_content": "a", "metadata": {"id": "x"}}]}')
    >>> [(d.chunk_id, d.content) for d in listing.documents]
    [('x', 'a')]
    >>> each_query_found = [[{"text": "a"}, {"text": "b"}], [{"text": "c"}, {"text": "a"}]]
    >>> [d.content for d in find_documents(each_query_found).documents]
    ['a', 'b', 'c']
    """
    container, complete = as_container(value)
    if isinstance(container, list):
        return _from_list(container, complete, depth)
    if not isinstance(container, dict):
        return Withheld.TRUNCATED if not complete and isinstance(value, str) else None
    for key in LIST_KEYS:
        if isinstance(container.get(key), list):
            documents = _from_list(container[key], complete, depth)
            if documents is not None:
                return documents
    if depth:
        for key in ("outputs", "output", "result", "response", "data", "kwargs", "inputs"):
            if isinstance(container.get(key), (dict, list)):
                documents = find_documents(container[key], depth=depth - 1)
                if documents is not None:
                    return documents
    return None if complete else Withheld.TRUNCATED


def _from_list(entries: list[object], complete: bool, depth: int) -> Listing | Withheld | None:
    if not entries:
        return Listing((), complete)
    drafts = [draft_ for draft_ in map(draft_of, entries) if draft_ is not None]
    if len(drafts) == len(entries) or (drafts and not complete):
        return listing(drafts, complete=complete)
    if depth and isinstance(entries[0], list):
        return _from_lists(entries, complete, depth - 1)
    return None


def _from_lists(lists: list[object], complete: bool, depth: int) -> Listing | Withheld | None:
    """The lists of several queries one after the other; of a chunk that several found the first.

    None where the inner lists are no documents, such as pairs of a document and a score.
    """
    entries = [entry for inner in lists if isinstance(inner, list) for entry in inner]
    drafts = [draft_ for draft_ in map(draft_of, entries) if draft_ is not None]
    if not drafts or (complete and len(drafts) < len(entries)):
        return _from_list(lists[0], complete, depth) if isinstance(lists[0], list) else None
    joined = {(draft_.id, draft_.content): draft_ for draft_ in reversed(drafts)}
    return listing([d for d in drafts if joined[(d.id, d.content)] is d], complete=complete)
