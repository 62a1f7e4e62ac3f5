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
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from ragvigil.model.record import Citation, RagRecord
from ragvigil.model.score import Score
from scorers.text.sentences import Sentence, ending, sentences
from scorers.text.stance import classify
from scorers.text.tokens import tokens

LEAST_WORDS = 4
"""Least words of a claim; a shorter sentence is a greeting or the like."""
SHORTEST = 2 * LEAST_WORDS - 1
"""Characters of so many words of one letter: a text of full stops is not read any further."""
SEARCHED_CHARACTERS = 4_000_000
"""Answers times their length in which quotations without a place are searched: each quotation is
searched in the whole answer, so that many of them in a long answer would take minutes."""
_NO_CLAIM = frozenset("?？؟;:：")
"""Behind the last word, the sign of a question or of a lead-in."""
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
        if "citations" in record.truncated:
            reason = "the answer is too long for all of its citations to be read"
            return Score.not_applicable(self.rubric, reason, absent="citations")
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
        coverage = _coverage(claims, record.citations, record.answer)
        bare = [claim.text for claim in claims if claim not in coverage.claims]
        said = f"{len(claims) - len(bare)} of {len(claims)} claims carry a citation"
        if coverage.unsearched:
            said += f"; {coverage.unsearched} quotations without a place were not searched"
        return Score(
            rubric=self.rubric,
            value=1 - len(bare) / len(claims),
            label="uncited" if len(bare) == len(claims) else "",
            explanation=said,
            details={"uncited": bare[:5], "claims": len(claims)},
        )


def is_claim(sentence: str) -> bool:
    """Whether a sentence states something that could be cited.

    >>> [is_claim(text) for text in ("Hello!", "Refunds take 5 business days.", "Can I help you?")]
    [False, True, False]
    """
    if len(sentence) < SHORTEST and sentence.isascii():
        return False
    bare = _MARKER.sub("", sentence)
    if not _NO_CLAIM.isdisjoint(ending(bare)) or _HEADING.match(bare):
        return False
    return len(tokens(bare)) >= LEAST_WORDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """The claims that carry a citation, and how many quotations were not searched."""

    claims: frozenset[Sentence]
    unsearched: int = 0


def _coverage(claims: Sequence[Sentence], citations: Iterable[Citation], answer: str) -> Coverage:
    """The claims that citations cover, by their place or, where they have none, by their quote."""
    places, quotes = list[tuple[int, int]](), dict[str, None]()
    for citation in citations:
        if citation.start is None and citation.claim_start is None and citation.quote:
            quotes[citation.quote] = None
        for start, end in (
            (citation.claim_start, citation.claim_end),
            (citation.start, citation.end),
        ):
            if start is not None and end is not None:
                places.append((start, end))
    searched = list(quotes)[: SEARCHED_CHARACTERS // len(answer) + 1]
    covered = {*_at(claims, places), *_quoting(claims, searched, answer)}
    return Coverage(claims=frozenset(covered), unsearched=len(quotes) - len(searched))


def _at(claims: Sequence[Sentence], places: Iterable[tuple[int, int]]) -> Iterator[Sentence]:
    """The claims that overlap with one of these places."""
    starts, ends = [claim.start for claim in claims], [claim.end for claim in claims]
    changes = [0] * (len(claims) + 1)  # +1 where a place begins to cover claims, -1 behind them
    for start, end in places:
        first, behind = bisect_right(ends, start), bisect_left(starts, end)
        if first < behind:
            changes[first] += 1
            changes[behind] -= 1
    for claim, covering in zip(claims, accumulate(changes), strict=False):
        if covering:
            yield claim


def _quoting(claims: Sequence[Sentence], quotes: Iterable[str], answer: str) -> Iterator[Sentence]:
    """The claims that contain one of these quotes."""
    starts = [claim.start for claim in claims]
    for quote in quotes:
        place = 0
        while place < len(claims) and (at := answer.find(quote, starts[place])) >= 0:
            place = bisect_right(starts, at)  # the claim behind the one in which it begins
            if at + len(quote) <= claims[place - 1].end:
                yield claims[place - 1]
