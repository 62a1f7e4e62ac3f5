"""Citation coverage: which share of the answer's claims carries a citation?

    >>> from ragvigil import Citation, Document, RagRecord
    >>> answer = "Refunds take 5 days [a]. Shipping is free for orders over 50 EUR."
    >>> record = RagRecord(record_id="1", trace_id="1", answer=answer,
    ...                    context=(Document(chunk_id="a", content="Refunds take 5 days."),),
    ...                    citations=(Citation(target="a", chunk_id="a", start=20, end=23),))
    >>> CitationCoverage().score(record).value
    0.5

A claim is a sentence of at least four words that states something: not a question, a heading, a
lead-in that ends in a colon or a refusing sentence. A citation covers the sentence that contains it
or that it was made for. Range 0..1. Source of the method: citation recall by position, without
checking support (see `citation_validity` for that).
"""

from __future__ import annotations

import re

from ragvigil.model.record import Citation, RagRecord
from ragvigil.model.score import Score
from scorers.text.sentences import Sentence, sentences
from scorers.text.stance import classify
from scorers.text.tokens import tokens

LEAST_WORDS = 4
"""Least words of a claim; a shorter sentence is a greeting or the like."""
_LEAD_IN = re.compile(r"[:：]\W*$")
_QUESTION = re.compile(r"[?？؟;]\W*$")
_HEADING = re.compile(r"^\s*(?:#{1,6}\s|\*\*[^*\n]{1,80}\*\*:?\s*$)")
_MARKER = re.compile(r"\[[^\[\]\n]{1,80}\]|【[^】\n]{1,80}】")


class CitationCoverage:
    """Scores `citation_coverage`."""

    rubric = "citation_coverage"

    def score(self, record: RagRecord) -> Score:
        """Scores the share of claims with a citation."""
        if not record.answer:
            return Score.not_applicable(self.rubric, "there is no answer")
        if not record.context:
            return Score.not_applicable(self.rubric, "nothing reached the prompt to be cited")
        stance = classify(record.answer)
        if stance.label == "refused":
            return Score.not_applicable(self.rubric, "the answer refused")
        refusing = {(sentence.start, sentence.end) for sentence in stance.refusing}
        claims = [
            sentence
            for sentence in sentences(record.answer)
            if is_claim(sentence.text) and (sentence.start, sentence.end) not in refusing
        ]
        if not claims:
            return Score.not_applicable(self.rubric, "the answer states nothing")
        bare = [
            claim.text
            for claim in claims
            if not _is_covered(claim, record.citations, record.answer)
        ]
        return Score(
            rubric=self.rubric,
            value=1 - len(bare) / len(claims),
            label="uncited" if len(bare) == len(claims) else "",
            explanation=f"{len(claims) - len(bare)} of {len(claims)} claims carry a citation",
            details={"uncited": bare[:5], "claims": len(claims)},
        )


def is_claim(sentence: str) -> bool:
    """Whether a sentence states something that could be cited.

    >>> [is_claim(text) for text in ("Hello!", "Refunds take 5 business days.", "Can I help you?")]
    [False, True, False]
    """
    bare = _MARKER.sub("", sentence)
    if _QUESTION.search(bare) or _LEAD_IN.search(bare) or _HEADING.match(bare):
        return False
    return len(tokens(bare)) >= LEAST_WORDS


def _is_covered(sentence: Sentence, citations: tuple[Citation, ...], answer: str) -> bool:
    return any(_covers(citation, sentence, answer) for citation in citations)


def _covers(citation: Citation, sentence: Sentence, answer: str) -> bool:
    for start, end in ((citation.claim_start, citation.claim_end), (citation.start, citation.end)):
        if start is not None and end is not None and start < sentence.end and end > sentence.start:
            return True
    # A citation without a place covers the sentence that contains its quote.
    if citation.start is not None or citation.claim_start is not None or not citation.quote:
        return False
    return citation.quote in answer[sentence.start : sentence.end]
