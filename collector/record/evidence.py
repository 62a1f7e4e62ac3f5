"""Collects what was retrieved and reranked for an answer, and why a part of it is unknown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from collector.claims.claim import Field, Listing, SpanRole, Withheld
from collector.claims.documents import with_rerank_scores
from collector.record.boundaries import Extent
from collector.record.calls import has_failed
from collector.record.tree import Node, query_of
from ragvigil.model.record import Absent, Document, Retrieval


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Documents of an answer by stage; `why` and `why_reranked` are reasons for missing lists.

    `retrieved` is None if unknown; an empty tuple means that the retriever found nothing.
    `partial` is the rest of a list that was cut off.
    """

    retrievals: tuple[Retrieval, ...] = ()
    retrieved: tuple[Document, ...] | None = None
    reranked: tuple[Document, ...] | None = None
    declared: tuple[Document, ...] | None = None
    partial: Listing | None = None
    why: Absent = Absent.NOT_SENT
    why_reranked: Absent = Absent.NOT_RUN


NodeListing = tuple[Node, Listing]


def gather(extent: Extent) -> Evidence:
    """Collects the documents in the spans of an answer."""
    retrievers = _outermost(extent.nodes)
    arrived = [node for node in retrievers if not _is_lost(node, extent.root)]
    listings = [listing for node in arrived if (listing := _listing(node)) is not None]
    # A retriever's list without ids may come from a vector store whose own span has them.
    everywhere = _by_hash(extent.nodes) if _lack_ids(listings) else {}
    if everywhere:
        listings = [
            (node, _listing_with_real_ids(listing, everywhere)) for node, listing in listings
        ]
    rerankers = [
        node
        for node in extent.nodes
        if node.role is SpanRole.RERANKER and not _is_lost(node, extent.root)
    ]
    joiners = [node for node in extent.nodes if node.reading is not None
               and node.reading.claims(Field.RERANK_INPUT)]  # fmt: skip
    # What all retrievers returned together is visible as the input of a reranker or joiner.
    rerank_input = _last(rerankers, Field.RERANK_INPUT) or _last(joiners, Field.RERANK_INPUT)
    ranked = _last(rerankers, Field.RERANKED)
    merged = _whole_retrieval(listings, rerank_input)
    known = [document for _, listing in listings for document in listing.documents]
    if rerank_input is not None:
        known.extend(rerank_input.documents)
    # An incomplete list counts as unknown; `partial` keeps it to compare it with the prompt.
    complete = merged is not None and merged.complete
    reranked = None
    if ranked is not None and ranked.complete:
        reranked = complete_from(with_rerank_scores(ranked.documents), known)
    return Evidence(
        retrievals=tuple(_retrieval(node, everywhere) for node in retrievers),
        retrieved=_with_real_ids(merged.documents, everywhere) if merged and complete else None,
        reranked=reranked,
        declared=_declared(extent),
        partial=merged if not complete else None,
        why=_why(retrievers, merged, is_lost=not arrived),
        why_reranked=_why_reranked(rerankers, ranked),
    )


def _is_lost(node: Node, root: Node) -> bool:
    """Whether a call between the root and this span failed: its result never reached the root."""
    for above in node.above() if node is not root else ():
        if above is root:
            return False
        if has_failed(above):
            return True
    return False


def _outermost(nodes: Sequence[Node]) -> list[Node]:
    """Retrieving spans, except rerankers, that are not inside another retrieving span."""
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


def _listing(node: Node) -> NodeListing | None:
    """A retriever's own list, else the joined lists of the retrievers below it."""
    own = node.reading.get(Field.RETRIEVED) if node.reading is not None else None
    if isinstance(own, Listing):
        return (node, own)
    inner = [
        inner_listing
        for child in node.children
        for inner_listing in [_listing(child)]
        if inner_listing is not None
    ]
    if not inner:
        return None
    return (node, _join([listing for _, listing in inner]))


def _join(listings: Sequence[Listing]) -> Listing:
    """Joins lists; a repeated chunk id keeps its first position."""
    if len(listings) == 1:
        return listings[0]
    by_id: dict[str, Document] = {}
    for listing in listings:
        for document in listing.documents:
            by_id.setdefault(document.chunk_id, document)
    documents = tuple(
        document if document.rank == rank else replace(document, rank=rank)
        for rank, document in enumerate(by_id.values())
    )
    return Listing(documents, all(listing.complete for listing in listings))


def _last(nodes: Sequence[Node], field: Field) -> Listing | None:
    """The list of the last span that has a non-empty one."""
    for node in sorted(nodes, key=lambda n: (n.end, n.start, n.id), reverse=True):
        listing = _stated(node, field)
        if isinstance(listing, Listing) and listing.documents:
            return listing
    return None


def _stated(node: Node, field: Field) -> object:
    """What a span says of a field. A reranker that is traced as a retriever claims RETRIEVED."""
    if node.reading is None:
        return None
    if field is Field.RERANKED and not node.reading.claims(Field.RERANKED):
        return node.reading.raw(Field.RETRIEVED)
    return node.reading.raw(field)


def _whole_retrieval(
    listings: Sequence[NodeListing], rerank_input: Listing | None
) -> Listing | None:
    """The list of the whole retrieval: of several retrievers' lists the joined one, if visible.

    The list that a joiner made is visible as the input of the reranker.
    """
    if rerank_input is not None and rerank_input.complete and len(listings) != 1:
        known = [document for _, listing in listings for document in listing.documents]
        return Listing(complete_from(rerank_input.documents, known))
    if not listings:
        return rerank_input
    return _join([listing for _, listing in listings])


def complete_from(documents: Iterable[Document], known: Iterable[Document]) -> tuple[Document, ...]:
    """Completes documents with ids, texts and metadata of the same chunks elsewhere.

    Chunks are the same if their text or their id is. A missing score stays missing, because the
    scores of different stages are never mixed.
    """
    by_hash: dict[str, Document] = {}
    by_id: dict[str, Document] = {}
    for chunk in known:
        by_id.setdefault(chunk.chunk_id, chunk)
        if chunk.text_hash:
            by_hash.setdefault(chunk.text_hash, chunk)
    return tuple(_complete(document, by_id, by_hash) for document in documents)


def _complete(
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
    """Whether another occurrence of a chunk has something that this one lacks."""
    return (
        other.chunk_id != document.chunk_id
        or (document.content is None and other.content is not None)
        or bool(other.document_id and not document.document_id)
        or bool(other.metadata and not document.metadata)
    )


def _lack_ids(listings: Sequence[NodeListing]) -> bool:
    return any(
        document.chunk_id == document.text_hash
        for _, listing in listings
        for document in listing.documents
    )


def _by_hash(nodes: Sequence[Node]) -> dict[str, Document]:
    """Documents with a real id, by text hash: a vector store's span may have what another lacks."""
    by_hash: dict[str, Document] = {}
    for node in nodes:
        if not node.retrieves or node.reading is None:
            continue
        for field in (Field.RETRIEVED, Field.RERANK_INPUT):
            listing = node.reading.get(field)
            for document in listing.documents if isinstance(listing, Listing) else ():
                if document.text_hash and document.chunk_id != document.text_hash:
                    by_hash.setdefault(document.text_hash, document)
    return by_hash


def _with_real_ids(
    documents: Iterable[Document], by_hash: dict[str, Document]
) -> tuple[Document, ...]:
    """Replaces ids that are only hashes by the id that the same text has elsewhere."""
    if not by_hash:
        return tuple(documents)
    return tuple(
        replace(document, chunk_id=by_hash[document.text_hash].chunk_id)
        if document.chunk_id == document.text_hash and document.text_hash in by_hash
        else document
        for document in documents
    )


def _listing_with_real_ids(listing: Listing, by_hash: dict[str, Document]) -> Listing:
    return listing._replace(documents=_with_real_ids(listing.documents, by_hash))


def _retrieval(node: Node, by_hash: dict[str, Document]) -> Retrieval:
    listing = _listing(node)
    documents = _with_real_ids(listing[1].documents, by_hash) if listing is not None else ()
    return Retrieval(query=query_of(node), documents=documents, span_id=node.id)


def _declared(extent: Extent) -> tuple[Document, ...] | None:
    declaring = [n for n in extent.nodes if n.reading and n.reading.claims(Field.CONTEXT)]
    for node in sorted(declaring, key=lambda n: (n.start, n.id)):
        listing = node.reading.get(Field.CONTEXT) if node.reading is not None else None
        if isinstance(listing, Listing) and listing.complete:
            return listing.documents
    return None


def _why(retrievers: Sequence[Node], merged: Listing | None, *, is_lost: bool) -> Absent:
    """The reason why the list of retrieved documents is missing."""
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
    withheld = [_stated(node, Field.RERANKED) for node in rerankers]
    return Absent.HIDDEN if Withheld.HIDDEN in withheld else Absent.NOT_SENT
