"""What reached the prompt: chosen from the spans' documents, checked against the prompt's text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from collector.claims.claim import Field, Listing, Message
from collector.claims.documents import build, draft
from collector.claims.prompt_chunks import Block, blocks, named
from collector.claims.prompt_match import positions
from collector.claims.tool_results import documents_of
from collector.record.evidence import Evidence
from collector.record.tree import Node
from ragvigil.model.record import ContextSource, Document

EMPTY_SHARE = 0.5
"""A prompt shorter than this share of the documents cannot hold them in other words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """`documents` in the order of the prompt; `starts` are their places in `prompt`."""

    documents: tuple[Document, ...] = ()
    source: ContextSource = ContextSource.NONE
    prompt: str = ""
    starts: tuple[int | None, ...] = ()


def prompt_texts(model: Node | None) -> tuple[str, ...]:
    """The texts of the messages that a model was given; empty where they are not visible."""
    messages = model.reading.get(Field.PROMPT) if model and model.reading is not None else None
    if not isinstance(messages, tuple):
        return ()
    return tuple(m.text for m in messages if isinstance(m, Message) and m.text)


def choose(evidence: Evidence, answering: Node | None, others: Sequence[Node]) -> Context:
    """The context of an answer.

    What the code declares wins; then what the reranker or else the retriever returned, without
    the documents that the visible prompt does not show; then the prompt's own structure.
    """
    texts = prompt_texts(answering)
    prompt = "\n\n".join(texts)
    ranked, source = evidence.reranked, ContextSource.RERANKED
    if ranked is None:
        ranked, source = evidence.retrieved, ContextSource.RETRIEVED
    if evidence.declared is not None:
        ranked, source = evidence.declared, ContextSource.DECLARED
    if ranked is None:
        return _from_tools(answering, prompt) or _from_prompt(texts, prompt, evidence.partial)
    if not ranked or not prompt:
        return Context(documents=ranked, source=source if ranked else ContextSource.NONE,
                       prompt=prompt, starts=(None,) * len(ranked))  # fmt: skip
    if any(document.content is None for document in ranked):
        ranked = with_texts(ranked, blocks(texts))
    shown = _shown(ranked, source, prompt)
    if shown is None:  # a refining or summarising model saw them in other calls
        for other in others:
            shown = _shown(ranked, source, "\n\n".join(prompt_texts(other)))
            if shown is not None:
                return shown
    return shown or _unseen(ranked, source, prompt)


def _shown(ranked: tuple[Document, ...], source: ContextSource, prompt: str) -> Context | None:
    """The documents that a prompt shows, in its order; None where it shows none of them."""
    places = positions(ranked, prompt)
    seen = sorted((place, index) for index, place in enumerate(places) if place is not None)
    if not seen:
        return None
    documents = [
        ranked[index] if ranked[index].rank == rank else replace(ranked[index], rank=rank)
        for rank, (_, index) in enumerate(seen)
    ]
    return Context(documents=tuple(documents), source=source, prompt=prompt,
                   starts=tuple(place for place, _ in seen))  # fmt: skip


def _unseen(ranked: tuple[Document, ...], source: ContextSource, prompt: str) -> Context:
    """No document occurs to the letter: left out if the prompt is too short, else rewritten."""
    size = sum(len(document.content or "") for document in ranked)
    if size and len(prompt) < EMPTY_SHARE * size:
        return Context(prompt=prompt)
    return Context(documents=ranked, source=source, prompt=prompt, starts=(None,) * len(ranked))


def with_texts(documents: tuple[Document, ...], shown: Sequence[Block]) -> tuple[Document, ...]:
    """Documents that lack their text, with the text of the prompt's block under their id."""
    by_label: dict[str, str] = {}
    for block in shown:
        by_label.setdefault(block.label, block.text)
    filled = [
        draft(one.chunk_id, by_label[one.chunk_id], one.score, dict(one.metadata))
        if one.content is None and by_label.get(one.chunk_id)
        else None
        for one in documents
    ]
    texts = build([one for one in filled if one is not None])
    by_id = {one.chunk_id: one for one in texts}
    return tuple(
        replace(one, content=by_id[one.chunk_id].content, text_hash=by_id[one.chunk_id].text_hash)
        if one.content is None and one.chunk_id in by_id
        else one
        for one in documents
    )


def _from_tools(model: Node | None, prompt: str) -> Context | None:
    """Documents in the tool results among the messages that the model was given."""
    messages = model.reading.get(Field.PROMPT) if model and model.reading is not None else None
    if not isinstance(messages, tuple):
        return None
    results = [m.text for m in messages if isinstance(m, Message) and m.role == "tool"]
    found = [listing for one in results if (listing := documents_of(one)) is not None]
    documents = [document for listing in found for document in listing.documents]
    if not documents or not all(listing.complete for listing in found):
        return None
    distinct = {document.chunk_id: document for document in reversed(documents)}
    kept = [one for one in documents if distinct[one.chunk_id] is one]
    ranked = tuple(replace(one, rank=rank) for rank, one in enumerate(kept))
    return Context(documents=ranked, source=ContextSource.PROMPT, prompt=prompt,
                   starts=(None,) * len(ranked))  # fmt: skip


def _from_prompt(texts: Sequence[str], prompt: str, partial: Listing | None) -> Context:
    """Chunks by the prompt's structure. What is left of a cut list must agree with them."""
    shown = blocks(texts)
    if not shown:
        return Context(prompt=prompt)
    documents = build([draft(named(block.label), block.text) for block in shown])
    if partial is not None:
        agreed = _agreed(documents, partial)
        if agreed is None:
            return Context(prompt=prompt)
        documents = agreed
    starts = tuple(positions(documents, prompt))
    return Context(documents=documents, source=ContextSource.PROMPT, prompt=prompt, starts=starts)


def _agreed(documents: tuple[Document, ...], partial: Listing) -> tuple[Document, ...] | None:
    """The prompt's chunks where those that are known stand at their own positions.

    The last known one must be the last of all, or as many as there were are shown: otherwise
    nothing tells how many were cut off.
    """
    slots = partial.slots or tuple(range(len(partial.documents)))
    if not slots or slots[-1] >= len(documents):
        return None
    if slots[-1] != len(documents) - 1 and partial.total != len(documents):
        return None
    merged = list(documents)
    for slot, known in zip(slots, partial.documents, strict=False):
        same_text = known.content is not None and known.text_hash == merged[slot].text_hash
        same_id = known.content is None and known.chunk_id == merged[slot].chunk_id
        if not (same_text or same_id):
            return None
        if same_text and known.chunk_id != known.text_hash:
            merged[slot] = replace(known, rank=slot)
    return tuple(merged)
