"""Compares what a route retrieves with the chunks, documents and scores of its past.

Requests whose question was asked before are the best evidence: the same question finds the same
chunks, however large the corpus is. A question asked for the first time may well find chunks that
were never found before, so it counts only where nearly all of them are new, and by how usual that
was.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
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
OF_SETS = ("new_chunks", "new_documents", "lost_any", "lost_half", "reordered")
REPEATED = (*OF_SETS, "moved", "shown_otherwise", "shown_reordered")
K = TypeVar("K")
V = TypeVar("V")
FIRST = ("half_new", "nearly_all_new")
EMPTIED, SOMETIMES = "emptied", 0.02
"""Questions that find nothing any more, and the share of requests to which that happens anywhere: a
retriever that fails now and then has not changed, and its rate has a ceiling of its own."""
Shown = tuple[int, ...] | None
"""The chunks that reached the prompt, in its order; None where they are unknown."""
Results = Mapping[int, tuple[tuple[Chunk, ...], Shown]]
"""What each question found, and what of it reached the prompt."""
NOTHING: Results = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalDiff:
    """One request compared with the past.

    `previous` is what its question found before, None if it was never asked. `new` are the chunks
    never found before, `new_documents` those of documents never found before. `shown` and
    `shown_before` are what reached the prompt.
    """

    mark: Mark
    question: int = 0
    chunks: tuple[Chunk, ...]
    previous: tuple[Chunk, ...] | None
    new: tuple[Chunk, ...]
    new_documents: tuple[Chunk, ...]
    shown: Shown = None
    shown_before: Shown = None

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
    def entered(self) -> tuple[Chunk, ...]:
        """The chunks that the question finds now and did not find before."""
        before = {chunk.text for chunk in self.previous or ()}
        return tuple(chunk for chunk in self.chunks if chunk.text not in before)

    @property
    def new_in_known(self) -> tuple[Chunk, ...]:
        """The new chunks of documents that were found before, or that have no name."""
        return tuple(chunk for chunk in self.new if chunk not in self.new_documents)

    @property
    def is_moved(self) -> bool:
        """Whether chunks found before and now have other scores."""
        moves = self.moves
        return bool(moves) and median(moves) > SAME_SCORE

    @property
    def is_changed(self) -> bool:
        """Whether a question that was asked before finds other chunks, scores or another order."""
        return bool(self.new or self.lost) or self.is_moved or self.is_reordered

    @property
    def is_count_changed(self) -> bool:
        """Whether the question finds, or the prompt shows, more or fewer chunks than before."""
        is_shown = self.shown is not None and self.shown_before is not None
        return len(self.chunks) != len(self.previous or ()) or (
            is_shown and len(self.shown or ()) != len(self.shown_before or ())
        )

    @property
    def is_reordered(self) -> bool:
        """Whether the chunks found both before and now come in another order."""
        return _is_reordered(
            [chunk.text for chunk in self.previous or ()], [chunk.text for chunk in self.chunks]
        )

    @property
    def is_reordered_only(self) -> bool:
        """Whether the question finds the same chunks in another order."""
        return not self.lost and not self.entered and self.is_reordered

    @property
    def is_shown_otherwise(self) -> bool:
        """Whether the question finds what it found before, and other chunks reach the prompt."""
        return self._is_comparable and set(self.shown or ()) != set(self.shown_before or ())

    @property
    def is_shown_reordered(self) -> bool:
        """Whether the same chunks are found, and the same reach the prompt in another order."""
        return (
            self._is_comparable
            and not self.is_shown_otherwise
            and _is_reordered(self.shown_before or (), self.shown or ())
        )

    @property
    def _is_comparable(self) -> bool:
        if self.shown is None or self.shown_before is None or self.previous is None:
            return False
        return not self.lost and not self.entered

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
        "_left",
        "_questions",
        "_rare",
        "_warm_up",
        "usual_new_documents",
    )

    def __init__(self, warm_up: int, left: Results = NOTHING) -> None:
        """`left` is what questions are to find that were last asked before a change."""
        self._warm_up = self._learning = warm_up
        self._left = left
        self.usual_new_documents = 0.0
        """Share of chunks of unknown documents among those that first-time questions find."""
        self._chunks: dict[int, None] = {}
        self._documents: dict[str, None] = {}
        self._questions: dict[int, tuple[tuple[Chunk, ...], Shown]] = {}
        self._diffs: deque[RetrievalDiff] = deque()
        self._rare = {name: Rare() for name in (*REPEATED, *FIRST)}
        self._rare[EMPTIED] = Rare(floor=SOMETIMES)

    def push(self, request: Fingerprint, mark: Mark, *, is_voice: bool = True) -> Mark | None:
        """Takes a request; returns the first request of a change once the change is certain.

        A request that `is_voice` is False of repeats a question of the newest few: it is no
        evidence of its own.
        """
        if request.chunks is None:
            return None
        diff = self._diff(request, request.chunks, mark)
        is_asked_again = diff.previous is None and any(
            request.question == earlier.question for earlier in self._diffs if earlier.question
        )
        self._diffs.append(diff)
        if len(self._diffs) > LONG_WINDOW:
            self._learn(self._diffs.popleft())
        self._learning -= self._learning > 0
        # A new question that is repeated before it was learned would count each time as new.
        if is_asked_again or not is_voice:
            return None
        firsts = [self._rare[name].push(flag, mark) for name, flag in self._flags(diff)]
        return min((first for first in firsts if first is not None), default=None)

    def since(self, mark: Mark) -> list[RetrievalDiff]:
        """The newest requests from a mark on, at most LONG_WINDOW."""
        return [diff for diff in self._diffs if diff.mark >= mark]

    def results(self) -> Results:
        """What each known question found, and what of it reached the prompt."""
        return self._questions

    def renewed(self, since: Mark, left: Results = NOTHING) -> Corpus:
        """Returns a corpus that has learned only the requests since then.

        `left` is what the change left of what questions found before it. Where that is told, what
        seldom happened before is as seldom again.
        """
        other = Corpus(self._warm_up, left)
        for diff in self.since(since):
            other._learn(diff)
        if left:
            other._rare |= {name: Rare(self._rare[name].before(since)) for name in REPEATED}
        return other

    def accept(self) -> None:
        """Learns the newest requests at once: what they found was new, but not changed."""
        while self._diffs:
            self._learn(self._diffs.popleft())
        self._rare |= {name: Rare() for name in FIRST}

    def _diff(self, request: Fingerprint, chunks: tuple[Chunk, ...], mark: Mark) -> RetrievalDiff:
        previous, shown_before = self._questions.get(request.question) or self._expected(
            request, chunks
        )
        if previous == chunks:
            # As nearly always: nothing to compare.
            return RetrievalDiff(
                mark=mark, question=request.question, chunks=chunks, previous=previous, new=(),
                new_documents=(), shown=request.shown, shown_before=shown_before,
            )  # fmt: skip
        found_before = {chunk.text for chunk in previous or ()}
        documents = {chunk.document for chunk in previous or ()}
        return RetrievalDiff(
            mark=mark,
            question=request.question,
            chunks=chunks,
            previous=previous,
            new=tuple(
                [
                    chunk
                    for chunk in chunks
                    if chunk.text not in self._chunks and chunk.text not in found_before
                ]
            ),
            new_documents=tuple(
                [
                    chunk
                    for chunk in chunks
                    if chunk.document
                    and chunk.document not in self._documents
                    and chunk.document not in documents
                ]
            ),
            shown=request.shown,
            shown_before=shown_before,
        )

    def _expected(
        self, request: Fingerprint, chunks: tuple[Chunk, ...]
    ) -> tuple[tuple[Chunk, ...] | None, Shown]:
        """What a question is to find that was last asked before the change; None if nobody knows.

        Of what it left those chunks that came since: others may be gone, and of what comes in their
        place nothing is known.
        """
        known, _ = self._left.get(request.question, ((), None))
        left = tuple([chunk for chunk in known if chunk.text in self._chunks])
        found = {chunk.text for chunk in chunks}
        if sum(chunk.text in found for chunk in left) >= 0.5 * len(left):
            return (chunks, request.shown) if left else (None, None)
        return left, None

    def _flags(self, diff: RetrievalDiff) -> Iterator[tuple[str, bool]]:
        """Yields a request's flags; first-time questions only after the warm-up."""
        if diff.previous is not None and diff.chunks == diff.previous:
            yield from ((name, False) for name in (*OF_SETS, EMPTIED))
            if any(chunk.score is not None for chunk in diff.chunks):
                yield "moved", False
            yield from self._flags_of_prompt(diff)
        elif diff.previous is not None and not diff.chunks:
            yield EMPTIED, True
        elif diff.previous is not None:
            lost = len(diff.lost)
            yield EMPTIED, False
            yield "new_chunks", bool(diff.new)
            yield "new_documents", bool(diff.new_documents)
            yield "lost_any", bool(lost)
            yield "lost_half", lost > 0.5 * len(diff.previous)
            if moves := diff.moves:
                yield "moved", median(moves) > SAME_SCORE
            yield "reordered", diff.is_reordered_only
            yield from self._flags_of_prompt(diff)
        elif not self._learning and diff.chunks:
            # New documents tell of new topics as well as of a new index; new chunks of known
            # documents, or of documents without a name, do not.
            new = len(diff.new_in_known)
            yield "half_new", new >= 0.5 * len(diff.chunks)
            yield "nearly_all_new", new >= 0.9 * len(diff.chunks)

    def _flags_of_prompt(self, diff: RetrievalDiff) -> Iterator[tuple[str, bool]]:
        if diff.shown is not None and diff.shown_before is not None:
            is_same = diff.shown == diff.shown_before
            yield "shown_otherwise", not is_same and diff.is_shown_otherwise
            yield "shown_reordered", not is_same and diff.is_shown_reordered

    def _learn(self, diff: RetrievalDiff) -> None:
        if diff.previous is None and diff.chunks:
            share = len(diff.new_documents) / len(diff.chunks)
            # An exponentially weighted mean: the newest questions count most.
            self.usual_new_documents += SMOOTHING * (share - self.usual_new_documents)
        for chunk in diff.chunks:
            _remember(self._chunks, chunk.text, None, MOST_CHUNKS)
            if chunk.document:
                _remember(self._documents, chunk.document, None, MOST_CHUNKS)
        # What a question finds is told by the requests that found something.
        if diff.question and diff.chunks:
            _remember(self._questions, diff.question, (diff.chunks, diff.shown), MOST_QUESTIONS)


def is_return(diffs: Sequence[RetrievalDiff], former: Results) -> bool:
    """Whether what changed finds again what it found before an earlier change (`former`)."""
    changed = [diff for diff in diffs if diff.is_changed and diff.question in former]
    back = sum(former[diff.question] == (diff.chunks, diff.shown) for diff in changed)
    return back > 0.5 * len(changed)


def _is_reordered(before: Sequence[int], now: Sequence[int]) -> bool:
    """Whether what both hold comes in another order."""
    if before == now:
        return False
    return [text for text in now if text in before] != [text for text in before if text in now]


def _remember(entries: dict[K, V], key: K, value: V, most: int) -> None:
    """Puts the entry last; the oldest entry goes beyond `most`."""
    # A dict keeps the order of insertion: popped and set again, the entry is the newest.
    entries.pop(key, None)
    entries[key] = value
    if len(entries) > most:
        del entries[next(iter(entries))]
