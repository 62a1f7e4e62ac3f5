"""What a route retrieves: are these still the chunks, documents and scores of its past?

Requests whose question was asked before say most: the same question finds the same chunks, however
large the corpus is. A question asked for the first time may well find what was never found before,
so it only counts where nearly everything it finds is new, and by how usual that was.
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
REPEATED = ("new_chunks", "new_documents", "lost_any", "lost_half", "moved")
K = TypeVar("K")
V = TypeVar("V")
FIRST = ("half_new", "nearly_all_new", "documents_new")


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One request against the past; `previous` is what its question found before, None if never.

    `new` are the chunks never seen before, `new_documents` those of documents never seen before.
    """

    mark: Mark
    chunks: tuple[Chunk, ...]
    previous: tuple[Chunk, ...] | None
    new: tuple[Chunk, ...]
    new_documents: tuple[Chunk, ...]

    @property
    def lost(self) -> tuple[Chunk, ...]:
        """What the question found before and does not any more."""
        now = {one.text for one in self.chunks}
        return tuple(one for one in self.previous or () if one.text not in now)

    @property
    def moves(self) -> tuple[float, ...]:
        """By how much the scores moved of the chunks that were found before and now."""
        before = {one.text: one.score for one in self.previous or ()}
        return tuple(
            abs(one.score - was) / max(abs(was), abs(one.score), 1e-9)
            for one in self.chunks
            if one.score is not None and (was := before.get(one.text)) is not None
        )

    @property
    def is_changed(self) -> bool:
        """Whether a question that was asked before does not find quite the same."""
        moves = self.moves
        moved = bool(moves) and median(moves) > SAME_SCORE
        return bool(self.new or self.lost) or moved or self.is_reordered

    @property
    def is_reordered(self) -> bool:
        """Whether chunks that were found before and now changed places with one another."""
        now = [one.text for one in self.chunks]
        before = [one.text for one in self.previous or ()]
        return [one for one in now if one in before] != [one for one in before if one in now]

    @property
    def new_share(self) -> float:
        """The share of chunks never seen before."""
        return len(self.new) / len(self.chunks) if self.chunks else 0.0


class Corpus:
    """The chunks, documents and results that a route knows, and what is remarkable about each.

    What comes is known 60 requests later, so that a change stays remarkable for so long.
    """

    __slots__ = (
        "_chunks",
        "_documents",
        "_learning",
        "_looks",
        "_questions",
        "_rare",
        "_warm_up",
        "usual_new_documents",
    )

    def __init__(self, warm_up: int) -> None:
        self._warm_up = self._learning = warm_up
        self.usual_new_documents = 0.0
        """Of chunks found by questions asked for the first time, those of unknown documents."""
        self._chunks: dict[int, None] = {}
        self._documents: dict[str, None] = {}
        self._questions: dict[int, tuple[Chunk, ...]] = {}
        self._looks: deque[tuple[Look, int]] = deque()
        self._rare = {name: Rare() for name in (*REPEATED, *FIRST)}

    def push(self, one: Fingerprint, mark: Mark) -> Mark | None:
        """Takes a request; the first one of a change where one is certain."""
        if one.chunks is None:
            return None
        look = self._look(one, one.chunks, mark)
        is_asked_again = look.previous is None and any(
            one.question == question for _, question in self._looks if question
        )
        self._looks.append((look, one.question))
        if len(self._looks) > LONG_WINDOW:
            self._learn(*self._looks.popleft())
        self._learning -= self._learning > 0
        if is_asked_again:
            return None
        found = [self._rare[name].push(flag, mark) for name, flag in self._flags(look)]
        return min((first for first in found if first is not None), default=None)

    def since(self, mark: Mark) -> list[Look]:
        """The newest requests from a mark on, at most 60."""
        return [look for look, _ in self._looks if look.mark >= mark]

    def renewed(self, since: Mark) -> Corpus:
        """One that knows what came since then, and nothing else."""
        other = Corpus(self._warm_up)
        for look, question in self._looks:
            if look.mark >= since:
                other._learn(look, question)
        return other

    def _look(self, one: Fingerprint, chunks: tuple[Chunk, ...], mark: Mark) -> Look:
        previous = self._questions.get(one.question)
        found_before = {chunk.text for chunk in previous or ()}
        documents = {chunk.document for chunk in previous or ()}
        return Look(
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

    def _flags(self, look: Look) -> Iterator[tuple[str, bool]]:
        """What is remarkable about a request; questions asked for the first time come warm."""
        if look.previous is not None:
            lost = len(look.lost)
            yield "new_chunks", bool(look.new)
            yield "new_documents", bool(look.new_documents)
            yield "lost_any", bool(lost)
            yield "lost_half", lost > 0.5 * len(look.previous)
            if moves := look.moves:
                yield "moved", median(moves) > SAME_SCORE
        elif not self._learning and look.chunks:
            yield "half_new", look.new_share >= 0.5
            yield "nearly_all_new", look.new_share >= 0.9
            yield "documents_new", len(look.new_documents) >= 0.5 * len(look.chunks)

    def _learn(self, look: Look, question: int) -> None:
        if look.previous is None and look.chunks:
            share = len(look.new_documents) / len(look.chunks)
            self.usual_new_documents += SMOOTHING * (share - self.usual_new_documents)
        for chunk in look.chunks:
            _remember(self._chunks, chunk.text, None, MOST_CHUNKS)
            if chunk.document:
                _remember(self._documents, chunk.document, None, MOST_CHUNKS)
        if question:
            _remember(self._questions, question, look.chunks, MOST_QUESTIONS)


def _remember(known: dict[K, V], key: K, value: V, most: int) -> None:
    """Puts it last; what came longest ago goes."""
    known.pop(key, None)
    known[key] = value
    if len(known) > most:
        del known[next(iter(known))]
