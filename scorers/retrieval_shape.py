"""Retrieval shape: did retrieval return anything, are the chunks distinct, and do scores differ?

    >>> from ragvigil import Document, RagRecord, Retrieval
    >>> same = "The warehouse is closed on public holidays. It opens at nine."
    >>> chunks = tuple(Document(chunk_id=name, content=same, rank=rank, score=score)
    ...                for rank, (name, score) in enumerate([("a", 0.9), ("b", 0.7)]))
    >>> record = RagRecord(record_id="1", trace_id="1", retrieved=chunks,
    ...                    retrievals=(Retrieval(query="open?", documents=chunks, span_id="s"),))
    >>> score = RetrievalShape().score(record)
    >>> score.value, score.label, score.explanation
    (0.5, 'duplicate', '1 of 2 chunks repeat another')

The share of retrieved chunks that do not repeat another one. A chunk repeats another if it has its
id or text, and nearly repeats it if the longer one contains four of five sentences of the shorter,
or, for short chunks, they share nine of ten words. 0 where a retriever returned nothing, or gave
all chunks of a list the same score: broken embeddings and indexes do that. The question is not
read. Range 0..1. Near-duplicates are found by prefix filtering (Chaudhuri et al. 2006).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from ragvigil.model.record import ContextSource, Document, RagRecord, Retrieval
from ragvigil.model.score import Score
from scorers.absence import first_absent
from scorers.chunk_utilization import CACHED_CHARACTERS, prepared_sentences
from scorers.text.chunk_text import chunk_text

NEAR = 0.8
"""Chunks are alike from this share of the shorter one's sentences found in the longer one."""
FEWEST = 3
"""Least sentences of a chunk, and scores of a list, whose equality means anything."""
NEAR_WORDS, FEWEST_WORDS = 0.9, 8
"""For chunks of fewer sentences: the share of distinct words in common, and the least of them."""
SPREAD = 1e-4
"""Largest difference of best and worst score, relative to the larger, that counts as none."""
MOST = 50
"""Chunks of a list that are compared with one another; later ones are not."""
PLACEHOLDERS = (0.0, 1.0)
"""Scores that mean *no score*: stores that only filter give them to every hit."""


class RetrievalShape:
    """Scores `retrieval_shape`."""

    rubric = "retrieval_shape"

    def score(self, record: RagRecord) -> Score:
        """Scores the share of distinct chunks; 0 for an empty list or scores that are all equal."""
        field, reason = first_absent(record, ("retrieved",))
        if field:
            return Score.not_applicable(self.rubric, reason, absent=field)
        if not record.retrieved:
            return self._nothing(record)
        chunks = record.retrieved
        repeated = _duplicates(chunks)
        near = _near_duplicates(chunks[:MOST], repeated)
        collapsed = [retrieval for retrieval in record.retrievals if is_collapsed(retrieval)]
        named = {"duplicate": repeated, "near_duplicate": near, "collapsed_scores": collapsed}
        repeats = len(repeated) + len(near)
        reasons = [f"{repeats} of {len(chunks)} chunks repeat another"] if repeats else []
        reasons += [
            f"all {len(retrieval.documents)} chunks score {_common(retrieval)}"
            for retrieval in collapsed[:1]
        ]
        return Score(
            rubric=self.rubric,
            value=0.0 if collapsed else 1 - repeats / len(chunks),
            label=",".join(sorted(label for label, cases in named.items() if cases)),
            explanation="; ".join(reasons) or f"{len(chunks)} distinct chunks",
            details={
                "duplicates": [chunks[place].chunk_id for place in repeated],
                "near_duplicates": [chunks[place].chunk_id for place in near],
            },
        )

    def _nothing(self, record: RagRecord) -> Score:
        is_seen = bool(record.retrievals) or record.context_source is ContextSource.PROMPT
        if not is_seen:
            return Score.not_applicable(self.rubric, "nothing was retrieved for this answer")
        reason = "retrieval returned nothing"
        return Score(rubric=self.rubric, value=0.0, label="empty", explanation=reason)


def _duplicates(chunks: Sequence[Document]) -> list[int]:
    """Places of the chunks whose id or text occurred before."""
    ids: set[str] = set()
    texts: set[str] = set()
    places = []
    for place, chunk in enumerate(chunks):
        if chunk.chunk_id in ids or (chunk.content and chunk.content in texts):
            places.append(place)
        ids.add(chunk.chunk_id)
        texts.add(chunk.content or "")
    return places


def _near_duplicates(chunks: Sequence[Document], repeated: Sequence[int]) -> list[int]:
    """Places of the chunks that nearly repeat an earlier one."""
    earlier: list[Outline] = []
    marks: set[Mark] = set()
    places = []
    for place, chunk in enumerate(chunks):
        if place in repeated or not chunk.content or len(chunk.content) > CACHED_CHARACTERS:
            continue  # very long texts are only compared as a whole, by `_duplicates`
        own = chunk_text(chunk.content).derived(outline)
        if not marks.isdisjoint(own.marks) and any(_are_alike(own, other) for other in earlier):
            places.append(place)
        earlier.append(own)
        marks |= own.marks
    return places


Mark = frozenset[str] | str


@dataclass(frozen=True, slots=True)
class Outline:
    """What chunks are compared by: their sentences or, where these are few, their words.

    Alike chunks share at least one of their `marks`: the sentences, or the alphabetically first
    tenth of the words and one more. Two sets that share nine of ten words share one of these
    (prefix filtering; Chaudhuri et al. 2006), so that most pairs are rejected by one set lookup.
    """

    sentences: frozenset[frozenset[str]]
    marks: frozenset[Mark]

    @property
    def words(self) -> frozenset[str]:
        """The distinct words. Not kept: few pairs of chunks are compared by them."""
        return frozenset[str]().union(*self.sentences)


def outline(content: str) -> Outline:
    """The outline of a chunk's text."""
    sentences = frozenset([sentence.words for sentence in prepared_sentences(content)])
    if len(sentences) >= FEWEST:
        return Outline(sentences, sentences)
    words = sorted(frozenset[str]().union(*sentences))
    # 1e-9: (1 - 0.9) * 10 must not be rounded down to 0.
    first = words[: int((1 - NEAR_WORDS) * len(words) + 1e-9) + 1]
    return Outline(sentences, frozenset(first))


def _are_alike(first: Outline, other: Outline) -> bool:
    if first.marks.isdisjoint(other.marks):
        return False
    if len(first.sentences) >= FEWEST:
        least = min(len(first.sentences), len(other.sentences))
        return len(first.sentences & other.sentences) >= NEAR * least
    words, others = first.words, other.words
    common = len(words & others)
    either = len(words) + len(others) - common
    return either >= FEWEST_WORDS and common >= NEAR_WORDS * either


def is_collapsed(retrieval: Retrieval) -> bool:
    """Whether all chunks of a list have practically the same score, placeholders aside."""
    scores = [chunk.score for chunk in retrieval.documents if chunk.score is not None]
    # Some chunk has no score, or there are too few of them for equality to mean anything.
    if len(scores) < max(FEWEST, len(retrieval.documents)) or not all(map(isfinite, scores)):
        return False
    low, high = min(scores), max(scores)
    is_placeholder = low == high and low in PLACEHOLDERS
    return not is_placeholder and high - low <= SPREAD * max(abs(low), abs(high))


def _common(retrieval: Retrieval) -> str:
    return f"{retrieval.documents[0].score:.4g}"
