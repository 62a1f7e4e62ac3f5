"""Multi-hop: does the answer rest on one document, or on several?

    >>> from ragvigil import Document, RagRecord
    >>> chunks = (
    ...     Document(chunk_id="a", document_id="cards", content="Card refunds take five days."),
    ...     Document(chunk_id="b", document_id="shops", content="The shop is closed on Sunday."),
    ... )
    >>> record = RagRecord(record_id="1", trace_id="1", context=chunks,
    ...     answer="Card refunds take five days. The shop is closed on Sunday.")
    >>> MultiHop().score(record).label
    'several_documents'

A label, no value: neither is good by itself, and a rate of `several_documents` that changes says
that the questions, or the chunks, have. An answer rests on several documents if no document has all
of its sentences that repeat a chunk. No score where none does, or where documents have no names.
"""

from __future__ import annotations

from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from scorers.chunk_utilization import compare


class MultiHop:
    """Scores `multi_hop`: a label, no value."""

    rubric = "multi_hop"
    is_sparse = True

    def score(self, record: RagRecord) -> Score:
        """Labels the answer `several_documents` or `one_document`."""
        texts = tuple(chunk.content or "" for chunk in record.context)
        names = [chunk.document_id for chunk in record.context]
        if not all(names):
            return Score.not_applicable(self.rubric, "not every document is named")
        sources = compare(record.answer or "", texts).sources
        if not sources:
            return Score.not_applicable(self.rubric, "no sentence repeats a chunk")
        documents = [{names[place] for place in source.chunks} for source in sources]
        label = "one_document" if set.intersection(*documents) else "several_documents"
        reason = f"{len(sources)} sentences repeat {len(set[str]().union(*documents))} documents"
        return Score(rubric=self.rubric, label=label, explanation=reason)
