"""Why fields of a record are unknown. Absent is not empty: a retriever may well find nothing."""

from __future__ import annotations

from dataclasses import dataclass

from collector.claims.claim import Field
from collector.record.boundaries import Extent
from collector.record.context import Context
from collector.record.evidence import Evidence
from collector.record.query_answer import Answer, why_unseen
from collector.record.tree import Node
from ragvigil.model.record import Absent, ContextSource, Document, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was found of one answer; None where a field is unknown."""

    extent: Extent
    evidence: Evidence
    context: Context
    retrieved: tuple[Document, ...] | None
    answer: Answer
    query: str | None
    calls: list[Node]
    usage: Usage


def absent(found: Found) -> dict[str, Absent]:
    """The fields that the spans do not carry, each with its reason."""
    reasons: dict[str, Absent] = {}
    if found.query is None:
        fields = (Field.QUERY, Field.INPUT, Field.PROMPT)
        reasons["query"] = why_unseen(found.extent.nodes, fields, None)
    _documents(found, reasons)
    if found.evidence.reranked is None:
        reasons["reranked"] = found.evidence.why_reranked
    if not found.context.documents and _is_context_unknown(found):
        reasons["context"] = _why_context(found)
    if found.answer.text is None:
        reasons["answer"] = found.answer.why
        reasons["citations"] = found.answer.why
    if found.usage.input_tokens is None and found.usage.output_tokens is None:
        failed = found.answer.text is None and found.answer.why is Absent.ERRORED
        reasons["usage"] = Absent.ERRORED if failed else Absent.NOT_SENT
    return reasons


def _documents(found: Found, reasons: dict[str, Absent]) -> None:
    if found.retrieved is None:
        reasons["retrieved"] = found.evidence.why
        if not found.context.documents:
            reasons["document_texts"] = reasons["document_ids"] = found.evidence.why
    known = [*(found.retrieved or ()), *found.context.documents]
    if any(document.content is None for document in known):
        reasons["document_texts"] = (
            Absent.HIDDEN if found.evidence.why is Absent.HIDDEN else Absent.NOT_SENT
        )
    if any(_is_hash(document) for document in known):
        reasons["document_ids"] = Absent.NOT_SENT


def _is_hash(document: Document) -> bool:
    return not document.chunk_id or document.chunk_id == document.text_hash


def _is_context_unknown(found: Found) -> bool:
    """No context was seen: a finding where retrieval is known, unknown where it is not."""
    if found.context.source is not ContextSource.NONE:
        return False
    return found.retrieved is None and found.evidence.reranked is None


def _why_context(found: Found) -> Absent:
    if found.evidence.why is not Absent.NOT_SENT:
        return found.evidence.why
    return why_unseen(found.extent.models, (Field.PROMPT,), found.extent.answering)
