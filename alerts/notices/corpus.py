"""Compares what a route retrieves with the chunks, documents and scores of its past.

Requests whose question was asked before are the best evidence: the same question finds the same
chunks, however large the corpus is. A question asked for the first time may well find chunks that
were never found before, so it counts only where nearly all of them are new, and by how usual that
was.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

from alerts.notices.fingerprint import Chunk, Fingerprint
from alerts.notices.rare import LONG_WINDOW, Mark, Rare

MOST_CHUNKS = 5_000
MOST_QUESTIONS = 500
SAME_SCORE = 0.01
"""Scores of one chunk for one question are the same within this share."""
SMOOTHING = 0.02
"""Weight of a new request in the running mean of `usual_new_documents`."""
# Flags of questions asked before, and of questions asked for the first time.
REPEATED = ("new_chunks", "new_documents", "lost_any", "lost_half", "moved")
K = TypeVar("K")
V = TypeVar("V")
FIRST = ("half_new", "nearly_all_new", "documents_new")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalDiff:
    """One request compared with the past.

    `previous` is what its question found before, None if it was never asked. `new` are the chunks
    never found before, `new_documents` those of documents never found before.
    """

    mark: Mark
    chunks: tuple[Chunk, ...]
    previous: tuple[Chunk, ...] | None
    new: tuple[Chunk, ...]
    new_documents: tuple[Chunk, ...]

    @property
    def lost(self) -> tuple[Chunk, ...]:
        """The chunks that the question found before and does not find any more."""
        now = {chunk.text for chunk in self.chunks}
        return tuple(chunk for chunk in self.previous or () if chunk.text not in now)

    @property
    def moves(self) -> tuple[float, ...]:
        """The relative change of each score, for chunks found before and now."""
        before = {chunk.text: chunk.score for chunk in self.previous or ()}
        return tuple(
            abs(chunk.score - was) / max(abs(was), abs(chunk.score), 1e-9)
            for chunk in self.chunks
            if chunk.score is not None and (was := before.get(chunk.text)) is not None
        )

    @property
    def is_changed(self) -> bool:
        """Whether a question that was asked before finds other chunks, scores or another order."""
        moves = self.moves
        moved = bool(moves) and median(moves) > SAME_SCORE
        return bool(self.new or self.lost) or moved or self.is_reordered

    @property
    def is_reordered(self) -> bool:
        """Whether the chunks found both before and now come in another order."""
        now = [chunk.text for chunk in self.chunks]
        before = [chunk.text for chunk in self.previous or ()]
        return [text for text in now if text in before] != [text for text in before if text in now]

    @property
    def new_share(self) -> float:
        """The share of chunks never found before."""
        return len(self.new) / len(self.chunks) if self.chunks else 0.0


class Corpus:
    """The chunks, documents and results that a route has shown, and which requests stand out.

    A request is learned only LONG_WINDOW requests later, so that a change stands out for that long.
    """

    __slots__ = (
        "_chunks",
        "_diffs",
        "_documents",
        "_learning",
        "_questions",
        "_rare",
        "_warm_up",
        "usual_new_documents",
    )

    def __init__(self, warm_up: int) -> None:
        self._warm_up = self._learning = warm_up
        self.usual_new_documents = 0.0
        """Share of chunks of unknown documents among those that first-time questions find."""
        self._chunks: dict[int, None] = {}
        self._documents: dict[str, None] = {}
        self._questions: dict[int, tuple[Chunk, ...]] = {}
        self._diffs: deque[tuple[RetrievalDiff, int]] = deque()
        self._rare = {name: Rare() for name in (*REPEATED, *FIRST)}

    def push(self, request: Fingerprint, mark: Mark) -> Mark | None:
        """Takes a request; returns the first request of a change once the change is certain."""
        if request.chunks is None:
            return None
        diff = self._diff(request, request.chunks, mark)
        is_asked_again = diff.previous is None and any(
            request.question == question for _, question in self._diffs if question
        )
        self._diffs.append((diff, request.question))
        if len(self._diffs) > LONG_WINDOW:
            self._learn(*self._diffs.popleft())
        self._learning -= self._learning > 0
        # A new question that is repeated before it was learned would count each time as new.
        if is_asked_again:
            return None
        firsts = [self._rare[name].push(flag, mark) for name, flag in self._flags(diff)]
        return min((first for first in firsts if first is not None), default=None)

    def since(self, mark: Mark) -> list[RetrievalDiff]:
        """The newest requests from a mark on, at most LONG_WINDOW."""
        return [diff for diff, _ in self._diffs if diff.mark >= mark]

    def renewed(self, since: Mark) -> Corpus:
        """Returns a corpus that has learned only the requests since then."""
        other = Corpus(self._warm_up)
        for diff, question in self._diffs:
            if diff.mark >= since:
                other._learn(diff, question)
        return other

    def _diff(self, request: Fingerprint, chunks: tuple[Chunk, ...], mark: Mark) -> RetrievalDiff:
        previous = self._questions.get(request.question)
        found_before = {chunk.text for chunk in previous or ()}
        documents = {chunk.document for chunk in previous or ()}
        return RetrievalDiff(
            mark=mark,
            chunks=chunks,
            previous=previous,
            new=tuple(
                chunk
                for chunk in chunks
                if chunk.text not in self._chunks and chunk.text not in found_before
            ),
            new_documents=tuple(
                chunk
                for chunk in chunks
                if chunk.document
                and chunk.document not in self._documents
                and chunk.document not in documents
            ),
        )

    def _flags(self, diff: RetrievalDiff) -> Iterator[tuple[str, bool]]:
        """Yields a request's flags; first-time questions only after the warm-up."""
        if diff.previous is not None:
            lost = len(diff.lost)
            yield "new_chunks", bool(diff.new)
            yield "new_documents", bool(diff.new_documents)
            yield "lost_any", bool(lost)
            yield "lost_half", lost > 0.5 * len(diff.previous)
            if moves := diff.moves:
                yield "moved", median(moves) > SAME_SCORE
        elif not self._learning and diff.chunks:
            yield "half_new", diff.new_share >= 0.5
            yield "nearly_all_new", diff.new_share >= 0.9
            yield "documents_new", len(diff.new_documents) >= 0.5 * len(diff.chunks)

    def _learn(self, diff: RetrievalDiff, question: int) -> None:
        if diff.previous is None and diff.chunks:
            share = len(diff.new_documents) / len(diff.chunks)
            # An exponentially weighted mean: the newest questions count most.
            self.usual_new_documents += SMOOTHING * (share - self.usual_new_documents)
        for chunk in diff.chunks:
            _remember(self._chunks, chunk.text, None, MOST_CHUNKS)
            if chunk.document:
                _remember(self._documents, chunk.document, None, MOST_CHUNKS)
        if question:
            _remember(self._questions, question, diff.chunks, MOST_QUESTIONS)


def _remember(entries: dict[K, V], key: K, value: V, most: int) -> None:
    """Puts the entry last; the oldest entry goes beyond `most`."""
    # A dict keeps the order of insertion: popped and set again, the entry is the newest.
    entries.pop(key, None)
    entries[key] = value
    if len(entries) > most:
        del entries[next(iter(entries))]
