"""Citation validity: do the cited chunks exist, and do they contain what is quoted from them?

    >>> from ragvigil import Citation, Document, RagRecord
    >>> chunk = Document(chunk_id="refund-02", content="Card refunds take 5 to 7 business days.")
    >>> invented = Citation(target="refund-02", chunk_id="refund-02",
    ...                     quote="Card refunds take 2 days")
    >>> record = RagRecord(record_id="1", trace_id="1", context=(chunk,), citations=(invented,),
    ...                    answer='It says "Card refunds take 2 days" [refund-02].')
    >>> score = CitationValidity().score(record)
    >>> score.value, score.label, score.explanation
    (0.0, 'quote_not_found', 'quote not found in chunk refund-02')

The share of an answer's citations whose chunk is in the context and contains the quoted span,
ignoring case, spacing, punctuation and single typos. Quotation marks, block quotes and the quote
fields of providers make a quotation. Any other sentence quotes nothing, however alike, and fails
only if another chunk supports it clearly better. Range 0..1; not applicable without citations.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from ragvigil.model.record import Citation, RagRecord
from ragvigil.model.score import Score
from scorers.text.alignment import align
from scorers.text.chunk_text import ChunkText, chunk_text
from scorers.text.language import are_alike, language
from scorers.text.negations import denies
from scorers.text.normalise import key, words
from scorers.text.quotation import ContextTexts, QuoteMatch, check_quote, is_question
from scorers.text.sentence_check import Claim, check_sentence, claim

EXPLAINED, DETAILED = 3, 1_000
"""Failures that the explanation names, and citations that the details hold: failures first."""
ASKED = 0.8
"""Least share of a quotation's words, in order in the question, that makes it the user's words."""
LEAST_TRANSLATED = 5
"""Least words of a quotation whose language is known well enough to say that it is translated."""
MOST_SHARED = 0.4
"""Similarity from which a quotation shares its words, and so its language, with the chunk."""
LEAST_ROOM = 1_000_000
"""Characters that the citations of a short answer may take to compare; more for a longer one.

Bounds the time where thousands of citations share one sentence or a long chunk: the others are
not checked and leave the score, and the explanation counts them.
"""
COMPARED, SCANNED = 500, 50
"""What one comparison takes beside its text, and how many characters of chunks cost one of it."""
MARKERS = 100
"""Distinct markers of one sentence that are each searched; of more, those in brackets are cut."""
BRACKETED = re.compile(r"\[[^\[\]\n]{1,80}\]|【[^】\n]{1,80}】|\([^()\n]{1,80}\)")
WORDING = {
    "unknown_chunk": "{target} is no chunk of the record",
    "marker_out_of_range": "{target} points beyond the {chunks} chunks of the context",
    "not_in_context": "chunk {target} did not reach the prompt",
    "quote_not_found": "quote not found in chunk {target}",
    "quote_in_other_chunk": "quote not found in chunk {target}, but in chunk {other}",
    "altered_by_omission": "quote of chunk {target} leaves out: {omitted}",
    "stitched": "quote cited from chunk {target} is stitched from several places",
    "marker_mismatch": "chunk {other} supports the sentence that cites chunk {target}",
}


class CitationValidity:
    """Scores `citation_validity`."""

    rubric = "citation_validity"

    def score(self, record: RagRecord) -> Score:
        """Scores the share of valid citations and explains why the others fail."""
        if not record.citations:
            return Score.not_applicable(self.rubric, "the answer cites nothing")
        for field in ("context", "citations"):
            if field in record.absent:
                return Score.not_applicable(self.rubric, f"{field} is unknown", absent=field)
        cited = CitationChecks(record)
        checks = [(citation, cited.check(citation)) for citation in record.citations]
        # Citations of unknown texts leave the denominator: unknown is not invalid.
        checkable = [finding for _, finding in checks if finding.checked != "nothing"]
        if not checkable:
            reason = "the texts of the cited chunks are unknown"
            return Score.not_applicable(self.rubric, reason, absent="document_texts")
        failed = [(citation, finding) for citation, finding in checks if finding.label]
        labels = Counter(finding.label for _, finding in failed)
        return Score(
            rubric=self.rubric,
            value=1 - len(failed) / len(checkable),
            label=",".join(sorted(labels)),
            explanation=_explanation(failed, len(checkable), len(record.context))
            + _left_out(cited.skipped, is_cut="citations" in record.truncated),
            details={
                "citations": _detailed(checks),
                "labels": dict(labels),
            },
        )


class CitationChecks:
    """Checks the citations of one record against its chunks.

    `skipped` counts citations that were not checked because others took all the room.
    """

    def __init__(self, record: RagRecord) -> None:
        self._record, self.skipped = record, 0
        self._texts = ContextTexts(record.context)
        self._context = {chunk.chunk_id for chunk in record.context}
        self._claims: dict[tuple[int, int], Claim] = {}
        self._checked: dict[Hashable, QuoteMatch] = {}
        self._room = LEAST_ROOM + len(record.answer or "") + self._texts_length
        self._beside: dict[tuple[int | None, int | None], list[Citation]] = defaultdict(list)
        for citation in record.citations:
            self._beside[citation.claim_start, citation.claim_end].append(citation)

    def check(self, citation: Citation) -> QuoteMatch:
        """Checks one citation; the finding's label says what is wrong."""
        label = self._misplaced(citation)
        if label is not None:
            return label
        named = tuple(name for name in self._named(citation) if name in self._texts)
        quote = (citation.quote or "").strip()
        if not named:
            return QuoteMatch(checked="nothing" if quote else "marker_only")
        # A long answer repeats its markers: each sentence is checked once a chunk.
        subject = (quote, citation.claim_start, citation.claim_end, named)
        if subject not in self._checked:
            self._room -= self._effort(citation, quote)
            if self._room < 0:
                self.skipped += 1
                return QuoteMatch(checked="nothing")
            self._checked[subject] = self._compare(citation, quote, named)
        return self._checked[subject]

    def _effort(self, citation: Citation, quote: str) -> int:
        """The estimated time of a comparison, in characters."""
        claimed = (citation.claim_end or 0) - (citation.claim_start or 0)
        return COMPARED + len(quote) + max(0, claimed) + self._texts_length // SCANNED

    @cached_property
    def _texts_length(self) -> int:
        return sum(len(chunk.content or "") for chunk in self._record.context)

    def _compare(self, citation: Citation, quote: str, named: Sequence[str]) -> QuoteMatch:
        """Compares the quotation, else the sentence of a citation with the chunks it names."""
        if quote:
            findings = [check_quote(quote, name, self._texts) for name in named]
            finding = next((finding for finding in findings if not finding.label), findings[0])
            if finding.is_outside and self._says_itself(citation, quote, finding.omitted):
                finding = replace(finding, label="", omitted="")
            # What quotes no chunk is no invented quotation: check the sentence instead.
            if not finding.label or not (
                self._is_of_no_chunk(quote)
                or ((finding.similarity or 0.0) < MOST_SHARED and self._is_translated(quote, named))
            ):
                return finding
        claimed = self._claim(citation)
        if claimed is None:
            return QuoteMatch(checked="marker_only")
        return check_sentence(claimed, named[0], self._texts)

    def _named(self, citation: Citation) -> list[str]:
        """The ids of the chunks that a citation names: one, or all chunks of a named document."""
        target, chunk_id = citation.target.strip().casefold(), citation.chunk_id or ""
        if not target or target.isdecimal() or target == chunk_id.casefold():
            return [chunk_id]
        return list(dict.fromkeys([chunk_id, *self._chunks_by_name.get(target, ())]))

    @cached_property
    def _chunks_by_name(self) -> dict[str, list[str]]:
        """The ids of chunks by document id and by value of their metadata, in lower case."""
        found: dict[str, list[str]] = defaultdict(list)
        for chunk in self._record.context:
            for name in (chunk.document_id, *chunk.metadata.values()):
                if isinstance(name, str):
                    found[name.casefold()].append(chunk.chunk_id)
        return found

    def _misplaced(self, citation: Citation) -> QuoteMatch | None:
        """The finding for a citation whose chunk is not in the context; None where it is."""
        record = self._record
        if citation.chunk_id in self._context:
            return None
        if citation.chunk_id is not None and citation.chunk_id in self._retrieved:
            return QuoteMatch(checked="marker_only", label="not_in_context")
        # Chunks or ids are missing from the spans: the cited chunk may have been retrieved.
        if "retrieved" in record.truncated or (
            "document_ids" in record.absent and citation.index is None
        ):
            return QuoteMatch(checked="nothing")
        is_place = citation.chunk_id is None and citation.index is not None
        label = "marker_out_of_range" if is_place else "unknown_chunk"
        return QuoteMatch(checked="marker_only", label=label)

    @cached_property
    def _retrieved(self) -> frozenset[str]:
        record = self._record
        return frozenset(chunk.chunk_id for chunk in (*record.retrieved, *record.reranked))

    def _is_of_no_chunk(self, quote: str) -> bool:
        """Whether a quotation is a question, the user's words, or the name of a chunk."""
        if is_question(quote) or quote.casefold() in self._chunks_by_name:
            return True
        quoted = words(quote)
        if key(quoted) in self._question.key:
            return True
        place = align(quoted, self._question)
        return place is not None and place.similarity >= ASKED

    def _is_translated(self, quote: str, named: Sequence[str]) -> bool:
        """Whether a quotation is in another language than the chunks that it is cited from."""
        texts = (chunk.content or "" for chunk in self._record.context if chunk.chunk_id in named)
        # First: chunks recur, quotations do not.
        others = [chunk_text(text).derived(language) for text in texts]
        if None in others:
            return False
        own = language(quote, LEAST_TRANSLATED)
        return own is not None and not any(other and are_alike(own, other) for other in others)

    @cached_property
    def _question(self) -> ChunkText:
        return ChunkText(self._record.query or "")

    def _says_itself(self, citation: Citation, quote: str, omitted: str) -> bool:
        """Whether the answer denies in its own words what it quotes: *never "mix bleach"*."""
        claimed = self._claim(citation)
        if claimed is None:
            return False
        own = words(claimed.text.replace(quote, " "))
        return denies(own) or omitted in own

    def _claim(self, citation: Citation) -> Claim | None:
        """The sentence that a citation supports, without markers; None where it is unknown."""
        answer, start, end = self._record.answer, citation.claim_start, citation.claim_end
        if answer is None or start is None or end is None or not 0 <= start < end:
            return None
        known_claim = self._claims.get((start, end))  # markers of one sentence share its claim
        if known_claim is None:
            beside = self._beside[start, end]
            chunks = frozenset(name for citation in beside for name in self._named(citation))
            known_claim = claim(_without_markers(answer, start, end, beside), chunks)
            self._claims[start, end] = known_claim
        return known_claim


def _without_markers(answer: str, start: int, end: int, beside: Sequence[Citation]) -> str:
    """The text of a claim without the markers of its citations."""
    text = answer[start:end]
    markers = {citation.marker for citation in beside if citation.marker}
    if len(markers) > MARKERS:
        return BRACKETED.sub(lambda match: " " if match[0] in markers else match[0], text)
    for marker in markers:
        text = text.replace(marker, " ")
    return text


def _explanation(failed: Sequence[tuple[Citation, QuoteMatch]], checkable: int, chunks: int) -> str:
    """The first EXPLAINED failures in words, and the number of others."""
    if not failed:
        return f"{checkable} of {checkable} citations valid"
    reasons = list(dict.fromkeys(_failure_texts(failed, chunks)))
    more = f"; and {len(reasons) - EXPLAINED} more" if len(reasons) > EXPLAINED else ""
    return "; ".join(reasons[:EXPLAINED]) + more


def _left_out(skipped: int, *, is_cut: bool) -> str:
    """What was not checked of an answer with too many citations, to add to the explanation."""
    some = f"; {skipped} more were not checked: too much to compare" if skipped else ""
    return some + ("; the end of the answer was not searched for citations" if is_cut else "")


def _failure_texts(failed: Sequence[tuple[Citation, QuoteMatch]], chunks: int) -> Iterator[str]:
    for citation, finding in failed:
        target = citation.chunk_id or citation.target or citation.marker
        yield WORDING[finding.label].format(
            target=target, other=finding.other, chunks=chunks, omitted=finding.omitted
        )


def _detailed(checks: Sequence[tuple[Citation, QuoteMatch]]) -> list[dict[str, object]]:
    """All, in their order; of more than DETAILED the failures first, each with its `place`."""
    rows = [_details(*check) for check in checks]
    if len(rows) <= DETAILED:
        return rows
    placed = [{**row, "place": place} for place, row in enumerate(rows)]
    return sorted(placed, key=lambda row: not row["label"])[:DETAILED]


def _details(citation: Citation, finding: QuoteMatch) -> dict[str, object]:
    shown: dict[str, object] = {
        "target": citation.target,
        "chunk_id": citation.chunk_id,
        "checked": finding.checked,
        "label": finding.label,
    }
    if finding.similarity is not None:
        shown["similarity"] = round(finding.similarity, 3)
    if finding.other:
        shown["other"] = finding.other
    if finding.omitted:
        shown["omitted"] = finding.omitted
    return shown
