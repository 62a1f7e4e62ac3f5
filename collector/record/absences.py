"""The reasons why fields of a record are unknown.

Absent is not empty: a retriever that found nothing has an empty list.
"""

from __future__ import annotations

from dataclasses import dataclass

from collector.claims.claim import Field
from collector.record.boundaries import Extent, failed_unasked
from collector.record.context import Context
from collector.record.evidence import Evidence
from collector.record.query_answer import Answer, why_unseen
from collector.record.tree import Node
from ragvigil.model.record import Absent, ContextSource, Document, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerParts:
    """What the spans say about an answer; None for an unknown field."""

    extent: Extent
    evidence: Evidence
    context: Context
    retrieved: tuple[Document, ...] | None
    answer: Answer
    query: str | None
    calls: list[Node]
    usage: Usage


def absent(parts: AnswerParts) -> dict[str, Absent]:
    """The fields that the spans do not carry, each with its reason."""
    reasons: dict[str, Absent] = {}
    if parts.query is None:
        fields = (Field.QUERY, Field.INPUT, Field.PROMPT)
        reasons["query"] = why_unseen(parts.extent.nodes, fields, None)
    _documents(parts, reasons)
    if parts.evidence.reranked is None:
        reasons["reranked"] = parts.evidence.why_reranked
    if not parts.context.documents and _is_context_unknown(parts):
        reasons["context"] = _why_context(parts)
    if parts.answer.text is None:
        reasons["answer"] = parts.answer.why
        reasons["citations"] = parts.answer.why
    if parts.usage.input_tokens is None and parts.usage.output_tokens is None:
        failed = parts.answer.text is None and parts.answer.why is Absent.ERRORED
        reasons["usage"] = Absent.ERRORED if failed else Absent.NOT_SENT
    return reasons


def _documents(parts: AnswerParts, reasons: dict[str, Absent]) -> None:
    if parts.retrieved is None:
        reasons["retrieved"] = parts.evidence.why
        if not parts.context.documents:
            reasons["document_texts"] = reasons["document_ids"] = parts.evidence.why
    shown = parts.context.documents
    known = [*(parts.retrieved or ()), *shown]
    if any(document.content is None for document in known):
        # Chunks that the prompt left out lack their texts where the prompt is their only source.
        has_shown = shown and all(document.content is not None for document in shown)
        reasons["retrieved_texts" if has_shown else "document_texts"] = (
            Absent.HIDDEN if parts.evidence.why is Absent.HIDDEN else Absent.NOT_SENT
        )
    if any(_is_hash(document) for document in known):
        reasons["document_ids"] = Absent.NOT_SENT


def _is_hash(document: Document) -> bool:
    return not document.chunk_id or document.chunk_id == document.text_hash


def _is_context_unknown(parts: AnswerParts) -> bool:
    """Whether a missing context is unknown; with a known retrieval it is known to be empty."""
    if parts.context.source is not ContextSource.NONE:
        return False
    if failed_unasked(parts.extent):
        return True
    return parts.retrieved is None and parts.evidence.reranked is None


def _why_context(parts: AnswerParts) -> Absent:
    if failed_unasked(parts.extent):
        return Absent.ERRORED
    if parts.evidence.why is not Absent.NOT_SENT:
        return parts.evidence.why
    return why_unseen(parts.extent.models, (Field.PROMPT,), parts.extent.answering)
