"""What was retrieved and reranked in one answer, and why a part of it cannot be told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from collector.claims.claim import Field, Listing, SpanRole, Withheld
from collector.claims.payload import question_of
from collector.record.boundaries import Extent, has_failed
from collector.record.tree import Node
from ragvigil.model.record import Absent, Document, Retrieval


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Documents of an answer by stage; `why` tells why a stage's list is missing.

    `retrieved` is None where unknown; an empty tuple is a retriever that found nothing.
    `partial` keeps what is left of a list whose rest was cut off.
    """

    retrievals: tuple[Retrieval, ...] = ()
    retrieved: tuple[Document, ...] | None = None
    reranked: tuple[Document, ...] | None = None
    declared: tuple[Document, ...] | None = None
    partial: Listing | None = None
    why: Absent = Absent.NOT_SENT
    why_reranked: Absent = Absent.NOT_RUN


Found = tuple[Node, Listing]


def gather(extent: Extent) -> Evidence:
    """The documents that the spans of an answer carry."""
    retrievers = _outermost(extent.nodes)
    arrived = [node for node in retrievers if not _is_lost(node, extent.root)]
    listings = [found for node in arrived if (found := _listing(node)) is not None]
    everywhere = _by_hash(extent.nodes) if _lack_ids(listings) else {}
    if everywhere:
        listings = [(node, _renamed(listing, everywhere)) for node, listing in listings]
    rerankers = [
        node
        for node in extent.nodes
        if node.role is SpanRole.RERANKER and not _is_lost(node, extent.root)
    ]
    joiners = [node for node in extent.nodes if node.reading is not None
               and node.reading.claims(Field.RERANK_INPUT)]  # fmt: skip
    given = _last(rerankers, Field.RERANK_INPUT) or _last(joiners, Field.RERANK_INPUT)
    ranked = _last(rerankers, Field.RERANKED)
    merged = _merged(listings, given)
    known = [one for _, listing in listings for one in listing.documents]
    if given is not None:
        known.extend(given.documents)
    complete = merged is not None and merged.complete
    reranked = complete_from(ranked.documents, known) if ranked and ranked.complete else None
    return Evidence(
        retrievals=tuple(_retrieval(node, everywhere) for node in retrievers),
        retrieved=_named(merged.documents, everywhere) if merged and complete else None,
        reranked=reranked,
        declared=_declared(extent),
        partial=merged if not complete else None,
        why=_why(retrievers, merged, is_lost=not arrived),
        why_reranked=_why_reranked(rerankers, ranked),
    )


def _is_lost(node: Node, root: Node) -> bool:
    """Whether a call between the root and this span failed: what it returned did not arrive."""
    for above in node.above() if node is not root else ():
        if above is root:
            return False
        if has_failed(above):
            return True
    return False


def _outermost(nodes: Sequence[Node]) -> list[Node]:
    """Retrieving spans that no other retrieving span encloses; rerankers are no retrievers."""
    members = {node.id for node in nodes}
    return [
        node
        for node in nodes
        if node.retrieves
        and node.role is not SpanRole.RERANKER
        and not any(
            a.retrieves and a.role is not SpanRole.RERANKER and a.id in members
            for a in node.above()
        )
    ]


def _listing(node: Node) -> Found | None:
    """A retriever's own list, else what the retrievers below it returned."""
    own = node.reading.get(Field.RETRIEVED) if node.reading is not None else None
    if isinstance(own, Listing):
        return (node, own)
    inner = [found for child in node.children for found in [_listing(child)] if found is not None]
    if not inner:
        return None
    return (node, _joined([listing for _, listing in inner]))


def _joined(listings: Sequence[Listing]) -> Listing:
    """Several lists as one: by chunk id, the first position wins."""
    if len(listings) == 1:
        return listings[0]
    seen: dict[str, Document] = {}
    for listing in listings:
        for document in listing.documents:
            seen.setdefault(document.chunk_id, document)
    documents = tuple(
        one if one.rank == rank else replace(one, rank=rank)
        for rank, one in enumerate(seen.values())
    )
    return Listing(documents, all(listing.complete for listing in listings))


def _last(nodes: Sequence[Node], field: Field) -> Listing | None:
    """The list of the last of several spans that has one."""
    for node in sorted(nodes, key=lambda one: (one.end, one.start, one.id), reverse=True):
        found = node.reading.get(field) if node.reading is not None else None
        if isinstance(found, Listing) and found.documents:
            return found
    return None


def _merged(listings: Sequence[Found], given: Listing | None) -> Listing | None:
    """What retrieval returned as a whole: a joiner's list reaches the reranker as its input."""
    if given is not None and given.complete and len(listings) != 1:
        known = [one for _, listing in listings for one in listing.documents]
        return Listing(complete_from(given.documents, known))
    if not listings:
        return given
    return _joined([listing for _, listing in listings])


def complete_from(documents: Iterable[Document], known: Iterable[Document]) -> tuple[Document, ...]:
    """Documents with the ids, texts and metadata that the same chunks have elsewhere.

    The same chunk is the same text, or the same id. A missing score stays missing: scores of
    different stages are never mixed.
    """
    by_hash: dict[str, Document] = {}
    by_id: dict[str, Document] = {}
    for one in known:
        by_id.setdefault(one.chunk_id, one)
        if one.text_hash:
            by_hash.setdefault(one.text_hash, one)
    return tuple(_completed(document, by_id, by_hash) for document in documents)


def _completed(
    document: Document, by_id: dict[str, Document], by_hash: dict[str, Document]
) -> Document:
    other = by_hash.get(document.text_hash) or by_id.get(document.chunk_id)
    if other is None or other is document:
        return document
    if not _adds(other, document):
        return document
    return Document(
        chunk_id=other.chunk_id,
        content=document.content if document.content is not None else other.content,
        document_id=document.document_id or other.document_id,
        text_hash=document.text_hash or other.text_hash,
        score=document.score,
        rank=document.rank,
        metadata=document.metadata or other.metadata,
    )


def _adds(other: Document, document: Document) -> bool:
    """Whether another occurrence of a chunk knows more than this one."""
    return (
        other.chunk_id != document.chunk_id
        or (document.content is None and other.content is not None)
        or bool(other.document_id and not document.document_id)
        or bool(other.metadata and not document.metadata)
    )


def _lack_ids(listings: Sequence[Found]) -> bool:
    return any(
        document.chunk_id == document.text_hash
        for _, listing in listings
        for document in listing.documents
    )


def _by_hash(nodes: Sequence[Node]) -> dict[str, Document]:
    """Documents with an id of their own, by text: a store may have what a retriever lacks."""
    found: dict[str, Document] = {}
    for node in nodes:
        if not node.retrieves or node.reading is None:
            continue
        for field in (Field.RETRIEVED, Field.RERANK_INPUT):
            listing = node.reading.get(field)
            for one in listing.documents if isinstance(listing, Listing) else ():
                if one.text_hash and one.chunk_id != one.text_hash:
                    found.setdefault(one.text_hash, one)
    return found


def _named(documents: Iterable[Document], by_hash: dict[str, Document]) -> tuple[Document, ...]:
    """Documents whose id is only their hash, under the id that the same text has elsewhere."""
    if not by_hash:
        return tuple(documents)
    return tuple(
        replace(one, chunk_id=by_hash[one.text_hash].chunk_id)
        if one.chunk_id == one.text_hash and one.text_hash in by_hash
        else one
        for one in documents
    )


def _renamed(listing: Listing, by_hash: dict[str, Document]) -> Listing:
    return listing._replace(documents=_named(listing.documents, by_hash))


def _retrieval(node: Node, by_hash: dict[str, Document]) -> Retrieval:
    found = _listing(node)
    documents = _named(found[1].documents, by_hash) if found is not None else ()
    return Retrieval(query=query_of(node), documents=documents, span_id=node.id)


def query_of(node: Node) -> str | None:
    """What a retriever was asked: its query, its input, or what was embedded below it."""
    if node.reading is None:
        return None
    for field in (Field.QUERY, Field.INPUT):
        asked = question_of(node.reading.get(field))
        if asked:
            return asked
    for child in node.children:
        if child.role in (SpanRole.EMBEDDING, SpanRole.RETRIEVER):
            asked = query_of(child)
            if asked:
                return asked
    return None


def _declared(extent: Extent) -> tuple[Document, ...] | None:
    declaring = [n for n in extent.nodes if n.reading and n.reading.claims(Field.CONTEXT)]
    for node in sorted(declaring, key=lambda one: (one.start, one.id)):
        found = node.reading.get(Field.CONTEXT) if node.reading is not None else None
        if isinstance(found, Listing) and found.complete:
            return found.documents
    return None


def _why(retrievers: Sequence[Node], merged: Listing | None, *, is_lost: bool) -> Absent:
    """Why there is no list of retrieved documents."""
    if merged is not None and not merged.complete:
        return Absent.TRUNCATED
    if not retrievers:
        return Absent.NOT_SENT
    withheld = [node.reading.raw(Field.RETRIEVED) for node in retrievers if node.reading]
    if is_lost or any(has_failed(node) for node in retrievers):
        return Absent.ERRORED
    if Withheld.TRUNCATED in withheld or any(
        node.reading is not None and node.reading.span.dropped_attributes_count
        for node in retrievers
    ):
        return Absent.TRUNCATED
    return Absent.HIDDEN if Withheld.HIDDEN in withheld else Absent.NOT_SENT


def _why_reranked(rerankers: Sequence[Node], ranked: Listing | None) -> Absent:
    if not rerankers:
        return Absent.NOT_RUN
    if ranked is not None:
        return Absent.TRUNCATED
    if any(has_failed(node) for node in rerankers):
        return Absent.ERRORED
    withheld = [node.reading.raw(Field.RERANKED) for node in rerankers if node.reading]
    return Absent.HIDDEN if Withheld.HIDDEN in withheld else Absent.NOT_SENT
