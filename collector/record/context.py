"""Decides which documents reached the prompt, and checks them against the prompt's text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from collector.claims.claim import Field, Listing
from collector.claims.documents import Draft, build, draft
from collector.claims.prompt_chunks import Block, as_id, context_blocks, shows_empty_context
from collector.claims.prompt_match import is_comparable, positions
from collector.claims.recover import whole
from collector.claims.search_tools import nothing_found, searches_documents
from collector.claims.source_blocks import searched_by_provider
from collector.claims.tool_results import single_document, tool_documents
from collector.claims.traced_calls import tool_message_documents
from collector.record.calls import REPLYING, calls_tool, prompt_texts, turn, turn_texts
from collector.record.evidence import Evidence
from collector.record.inferred_rerank import is_reranked
from collector.record.tree import Node
from ragvigil.model.record import Absent, ContextSource, Document

EMPTY_SHARE = 0.5
"""A prompt shorter than this share of the documents cannot contain a rewritten form of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """`documents` in the order of the `prompt`."""

    documents: tuple[Document, ...] = ()
    source: ContextSource = ContextSource.NONE
    prompt: str = ""


def choose(
    evidence: Evidence,
    answering: Node | None,
    others: Sequence[Node],
    contributors: Sequence[Node] = (),
) -> Context:
    """The context of an answer.

    Documents that the code declares come first; then those of the reranker, or else of the
    retriever, without the documents that no visible prompt shows, neither the answering model's
    nor those of the `contributors`; then the chunks that the prompt's structure shows. A prompt
    too large to be searched counts as not visible.
    """
    context = _chosen(evidence, answering, others, contributors)
    is_inferred = (
        context.source is ContextSource.RETRIEVED
        and evidence.why_reranked is Absent.NOT_RUN
        and len(evidence.retrievals) == 1
        and not contributors
        and is_reranked(evidence.retrieved or (), context.documents)
    )
    return replace(context, source=ContextSource.INFERRED) if is_inferred else context


def _chosen(
    evidence: Evidence,
    answering: Node | None,
    others: Sequence[Node],
    contributors: Sequence[Node],
) -> Context:
    texts = prompt_texts(answering)
    prompt = "\n\n".join(texts)
    ranked, source = evidence.reranked, ContextSource.RERANKED
    if ranked is None:
        ranked, source = evidence.retrieved, ContextSource.RETRIEVED
    if evidence.declared is not None:
        ranked, source = evidence.declared, ContextSource.DECLARED
    if ranked is None:
        return _from_tools(answering, others, prompt) or _from_prompts(
            answering, others, evidence.partial
        )
    if not ranked or not is_comparable(len(ranked), len(prompt)):
        return Context(
            documents=ranked, source=source if ranked else ContextSource.NONE, prompt=prompt
        )
    if any(document.content is None for document in ranked):
        ranked = with_texts(ranked, context_blocks(texts))
    readers = ["\n\n".join(prompt_texts(model)) for model in contributors]
    shown = _context_shown(ranked, source, [*readers, prompt])
    if shown is None:  # an answering model that only puts a text into shape: another call got them
        shown = _first_shown(ranked, source, others, len(prompt))
    if shown is None and (_leaves_out_results(answering) or _was_given_more(answering, prompt)):
        return Context(documents=ranked, source=source, prompt=prompt)
    return shown or _context_not_shown(ranked, source, prompt)


def _leaves_out_results(model: Node | None) -> bool:
    """Whether a prompt has a call of a tool, and no text after it: its result is unknown."""
    messages = turn(model)
    calls = [at for at, message in enumerate(messages) if message.calls_tool]
    return bool(calls) and not any(
        message.text for message in messages[calls[0] :] if message.role not in REPLYING
    )


def _was_given_more(model: Node | None, prompt: str) -> bool:
    """Whether a model counted more tokens than its messages have characters.

    Cohere takes documents beside the messages, and its instrumentor leaves them out. A call of a
    tool says nothing: the descriptions of tools are counted, too.
    """
    if model is None or model.reading is None or calls_tool(model):
        return False
    return (whole(model.reading.get(Field.INPUT_TOKENS)) or 0) > len(prompt) > 0


def _context_shown(
    ranked: tuple[Document, ...], source: ContextSource, prompts: Sequence[str]
) -> Context | None:
    """The documents that the prompts show, in their order; None if they show none of them."""
    order: dict[int, None] = {}
    showing: list[str] = []
    read = 0
    for prompt in prompts:
        read += len(prompt)
        if not is_comparable(len(ranked), read):
            continue
        places = positions(ranked, prompt)
        matches = sorted((place, index) for index, place in enumerate(places) if place is not None)
        order.update(dict.fromkeys(index for _, index in matches))
        showing += [prompt] if matches else []
    if not order:
        return None
    documents = [
        ranked[index] if ranked[index].rank == rank else replace(ranked[index], rank=rank)
        for rank, index in enumerate(order)
    ]
    return Context(documents=tuple(documents), source=source, prompt="\n\n".join(showing))


def _first_shown(
    ranked: tuple[Document, ...], source: ContextSource, models: Sequence[Node], read: int
) -> Context | None:
    """What the first of the models' prompts that shows any document shows."""
    for model in models:
        prompt = "\n\n".join(prompt_texts(model))
        read += len(prompt)
        if not is_comparable(len(ranked), read):
            return None
        shown = _context_shown(ranked, source, [prompt])
        if shown is not None:
            return shown
    return None


def _context_not_shown(ranked: tuple[Document, ...], source: ContextSource, prompt: str) -> Context:
    """The context if no document occurs literally: none if the prompt is too short, else all.

    A long enough prompt may contain the documents in a rewritten form.
    """
    size = sum(len(document.content or "") for document in ranked)
    if size and len(prompt) < EMPTY_SHARE * size:
        return Context(prompt=prompt)
    return Context(documents=ranked, source=source, prompt=prompt)


def with_texts(documents: tuple[Document, ...], blocks: Sequence[Block]) -> tuple[Document, ...]:
    """Fills missing texts of documents from the prompt's blocks with the same id."""
    by_label: dict[str, str] = {}
    for block in blocks:
        by_label.setdefault(block.label, block.text)
    filled = [
        draft(
            document.chunk_id, by_label[document.chunk_id], document.score, dict(document.metadata)
        )
        if document.content is None and by_label.get(document.chunk_id)
        else None
        for document in documents
    ]
    # `build` computes the hash of the new text.
    texts = build([draft_ for draft_ in filled if draft_ is not None])
    by_id = {document.chunk_id: document for document in texts}
    return tuple(
        replace(
            document,
            content=by_id[document.chunk_id].content,
            text_hash=by_id[document.chunk_id].text_hash,
        )
        if document.content is None and document.chunk_id in by_id
        else document
        for document in documents
    )


def _from_tools(model: Node | None, others: Sequence[Node], prompt: str) -> Context | None:
    """Documents in the results of tools, the user's and the provider's.

    None of them is an empty context, if every result is an empty list of documents by its name, or
    every tool that a model called searches documents.
    """
    if model is None or model.reading is None:
        return None
    messages = (*turn(model), *(model.reading.get(Field.REPLY) or ()))
    results = [message.text for message in messages if message.role == "tool"]
    listings = [listing for result in results if (listing := tool_documents(result)) is not None]
    if not listings and _only_searched(others):
        listings = [listing for result in results if (listing := single_document(result))]
    hosted = None if listings else searched_by_provider(model.reading.get(Field.RAW_REPLY))
    listings += [hosted] if hosted is not None else []
    documents = [document for listing in listings for document in listing.documents]
    if not documents and results and all(nothing_found(result) for result in results):
        is_search = all(map(tool_message_documents, results)) or _only_searched(others)
        return Context(source=ContextSource.PROMPT, prompt=prompt) if is_search else None
    if not documents or not all(listing.complete for listing in listings):
        return None
    # Reversed, so that the first occurrence of a chunk wins.
    distinct = {document.chunk_id: document for document in reversed(documents)}
    unique = [document for document in documents if distinct[document.chunk_id] is document]
    ranked = tuple(replace(document, rank=rank) for rank, document in enumerate(unique))
    return Context(documents=ranked, source=ContextSource.PROMPT, prompt=prompt)


def _only_searched(models: Sequence[Node]) -> bool:
    """Whether models called tools that search documents, by their names, and no other tool."""
    called = [
        name
        for model in models
        if model.reading is not None
        for name in model.reading.get(Field.CALLED_TOOLS) or ()
    ]
    return bool(called) and all(map(searches_documents, called))


def _from_prompts(
    answering: Node | None, others: Sequence[Node], partial: Listing | None
) -> Context:
    """Chunks that the answering model's prompt shows, else those of the only other that shows any.

    A model that puts an answer into shape gets no context: another call got it.
    """
    shown = _from_prompt(answering, partial)
    if shown.documents or partial is not None:
        return shown
    elsewhere = [context for other in others if other is not answering
                 and (context := _from_prompt(other, None)).documents]  # fmt: skip
    texts = {tuple(document.text_hash for document in context.documents) for context in elsewhere}
    return elsewhere[-1] if len(texts) == 1 else shown


def _from_prompt(model: Node | None, partial: Listing | None) -> Context:
    """Chunks by the prompt's structure. The rest of a cut-off list must agree with them."""
    prompt = "\n\n".join(prompt_texts(model))
    texts = turn_texts(model)
    blocks = context_blocks(texts)
    if not blocks:
        is_empty = partial is None and shows_empty_context(texts)
        return Context(
            source=ContextSource.PROMPT if is_empty else ContextSource.NONE, prompt=prompt
        )
    documents = build(_drafts(blocks))
    if partial is not None:
        agreed = _agreement(documents, partial)
        if agreed is None:
            return Context(prompt=prompt)
        documents = agreed
    return Context(documents=documents, source=ContextSource.PROMPT, prompt=prompt)


def _drafts(blocks: Sequence[Block]) -> list[Draft]:
    """A label that several blocks have is the name of their document."""
    ids = [as_id(block.label) for block in blocks]
    counts = Counter(ids)
    return [
        draft(None, block.text, None, {"source": own}) if own and counts[own] > 1
        else draft(own, block.text)
        for own, block in zip(ids, blocks, strict=True)
    ]  # fmt: skip


def _agreement(documents: tuple[Document, ...], partial: Listing) -> tuple[Document, ...] | None:
    """The prompt's chunks, if the known documents are at their own positions; else None.

    The last known document must be the last chunk, or the number of chunks must be the known
    total: otherwise it is unknown how many were cut off.
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
