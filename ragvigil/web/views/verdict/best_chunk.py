"""The chunk that answers a question, as far as a golden case or a judge says which. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ragvigil.web.views.verdict.own_scores import judged, own_score
from ragvigil.web.views.verdict.scores import ScoreForm

Source = Literal["golden", "judge"]
LONGEST_NAME = 40
"""Characters of a chunk's id that a chip or a sentence shows; hashes are as long as they like."""
ANSWERING = ("3", "2")
"""Grades of `context_relevance` of a chunk that holds the answer or some of it, the best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkIds:
    """The chunks of a record by id, in their order; `absent` names the lists that are unknown."""

    retrieved: Sequence[str]
    reranked: Sequence[str]
    context: Sequence[str]
    absent: Mapping[str, str]

    @property
    def was_reranked(self) -> bool:
        """Whether a reranker changed or cut the list."""
        return bool(self.reranked)


@dataclass(frozen=True, slots=True, kw_only=True)
class BestChunk:
    """A chunk that answers the question; `quote` is where it does, by the judge's words."""

    chunk_id: str
    source: Source
    quote: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relevance:
    """Whether a retrieved chunk answers the question, and the best of them.

    `answers` is None where nobody looked: no golden case asks the question, and no judge has read
    the chunks. `missed` are chunks of the golden case that were not retrieved.
    """

    answers: bool | None = None
    best: BestChunk | None = None
    missed: Sequence[str] = ()


def relevance(scores: Sequence[ScoreForm], chunks: ChunkIds) -> Relevance:
    """What golden case and judge know of the chunks; the golden case goes before the judge."""
    golden = _by_golden_case(scores, chunks)
    return golden if golden.answers is not None else _by_judge(scores, chunks)


def _by_golden_case(scores: Sequence[ScoreForm], chunks: ChunkIds) -> Relevance:
    score = own_score(scores, "context_recall")
    if score is None or score.value is None:
        return Relevance()
    missed = tuple(_texts(score.details.get("missing")))
    found = list(_texts(score.details.get("found")))
    if score.value == 0:
        return Relevance(answers=False, missed=missed)
    if not found:
        return Relevance()  # an older score, which does not name them
    best = BestChunk(chunk_id=_nearest_to_answer(found, chunks), source="golden")
    return Relevance(answers=True, best=best, missed=missed)


def _by_judge(scores: Sequence[ScoreForm], chunks: ChunkIds) -> Relevance:
    score = judged(scores, "context_relevance")
    verdicts = list(_verdicts(score)) if score is not None and score.value is not None else []
    for grade in ANSWERING:
        quotes = {
            row["chunk_id"]: row.get("quote", "") for row in verdicts if row["grade"] == grade
        }
        if quotes:
            # A chunk of a lower grade that reached the prompt is no better than one that did not.
            chunk_id = _nearest_to_answer(list(quotes), chunks)
            best = BestChunk(chunk_id=chunk_id, source="judge", quote=str(quotes[chunk_id]))
            return Relevance(answers=True, best=best)
    answerable = judged(scores, "answerable")
    if answerable is not None and answerable.value is not None:
        return Relevance(answers=answerable.value > 0)
    return Relevance()


def _verdicts(score: ScoreForm) -> Iterator[Mapping[str, Any]]:
    listed = score.details.get("verdicts")
    for row in listed if isinstance(listed, list) else ():
        if isinstance(row, dict) and {"chunk_id", "grade"} <= row.keys():
            yield row


def _nearest_to_answer(chunk_ids: Sequence[str], chunks: ChunkIds) -> str:
    """Of several the one that came farthest: into the prompt, else through the reranker."""
    for ids in (chunks.context, chunks.reranked, chunks.retrieved):
        ranked = [chunk_id for chunk_id in ids if chunk_id in chunk_ids]
        if ranked:
            return ranked[0]
    return chunk_ids[0]


def _texts(value: object) -> Iterator[str]:
    return (text for text in (value if isinstance(value, list) else ()) if isinstance(text, str))


def short_name(chunk_id: str) -> str:
    """A chunk's id for a sentence.

    >>> short_name("refund-02#1"), len(short_name("0123456789abcdef" * 4))
    ('refund-02#1', 40)
    """
    return chunk_id if len(chunk_id) <= LONGEST_NAME else f"{chunk_id[: LONGEST_NAME - 1]}…"
