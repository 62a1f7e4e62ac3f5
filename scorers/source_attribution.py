"""Source attribution: is the cited chunk the one that the sentence was written from?

    >>> from ragvigil import Citation, Document, RagRecord
    >>> chunks = (
    ...     Document(chunk_id="a", content="Card refunds take five days."),
    ...     Document(chunk_id="b", content="The shop is closed on Sunday."),
    ... )
    >>> cited = Citation(target="2", chunk_id="b", claim_start=0, claim_end=28)
    >>> record = RagRecord(record_id="1", trace_id="1", context=chunks, citations=(cited,),
    ...     answer="Card refunds take five days. [2]")
    >>> score = SourceAttribution().score(record)
    >>> score.value, score.explanation
    (0.0, '0 of 1 cited sentences cite their nearest chunk')

Of the cited sentences that repeat a chunk of the prompt, the share that cites the chunk they repeat
most (or one as near). Sentences in words of their own are left out: of these a judge says whether
the cited chunk supports them (`chunk_attribution`). Range 0..1; no score where no cited sentence
repeats a chunk. It fails no record: a chunk that says the same in other words supports as well.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence

from ragvigil.model.record import Citation, RagRecord
from ragvigil.model.score import Score
from scorers.chunk_utilization import SentenceSource, compare


class SourceAttribution:
    """Scores `source_attribution`."""

    rubric = "source_attribution"
    is_sparse = True

    def score(self, record: RagRecord) -> Score:
        """Scores the share of cited sentences whose nearest chunk is cited."""
        if not record.citations:
            return Score.not_applicable(self.rubric, "the answer cites nothing")
        texts = tuple(chunk.content or "" for chunk in record.context)
        names = [chunk.chunk_id for chunk in record.context]
        sources = compare(record.answer or "", texts).sources
        named = _named(record.citations, sources)
        cited = len(named)
        right = sum(
            any(names[place] in ids for place in sources[number].chunks)
            for number, ids in named.items()
        )
        if not cited:
            return Score.not_applicable(self.rubric, "no cited sentence repeats a chunk")
        return Score(
            rubric=self.rubric,
            value=right / cited,
            explanation=f"{right} of {cited} cited sentences cite their nearest chunk",
        )


def _named(
    citations: Sequence[Citation], sources: Sequence[SentenceSource]
) -> Mapping[int, set[str | None]]:
    """By sentence, the chunks that it cites, by the middle of a citation's claim."""
    starts = [source.start for source in sources]
    named: dict[int, set[str | None]] = defaultdict(set)
    for citation in citations:
        if citation.claim_start is None or citation.claim_end is None:
            continue
        middle = (citation.claim_start + citation.claim_end) / 2
        number = bisect_right(starts, middle) - 1
        if number >= 0 and middle < sources[number].end:
            named[number].add(citation.chunk_id)
    return named
