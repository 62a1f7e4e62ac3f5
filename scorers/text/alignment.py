"""Where a quotation lies in a chunk, and which words differ there.

Callers first try a substring search, which finds a verbatim quotation. Otherwise each shared word
votes for an offset, rapidfuzz aligns the words at the winning offset, and every differing word,
number and negation is classified: a similarity alone would pass a swapped word or an added *not*.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scorers.text.chunk_text import ChunkText
from scorers.text.negations import denies
from scorers.text.normalise import is_number, length

LONGEST = 1_000
"""Most words of a quotation that are aligned; exact matches have no limit."""
COMMON = 32
"""Words that occur more often than this in a chunk do not vote: they say little about the place."""
CANDIDATES = 4
"""Number of best-voted offsets compared; the one with most votes within three words wins."""
TYPO_LENGTH = 6
"""Letters of the shortest word in which one wrong key counts as a typo, not as another word."""
SLACK = 4
"""Words added on either side of the aligned window, besides one for each eight words quoted."""
EDGE = 3
"""Most words at an edge of a quotation that may be one word, broken apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A stretch that differs: `ours` in the quotation, `theirs` in the chunk; either may be ()."""

    ours: tuple[str, ...]
    theirs: tuple[str, ...]

    @property
    def is_number(self) -> bool:
        """Whether a number replaces another number."""
        ours = [word for word in self.ours if is_number(word)]
        theirs = [word for word in self.theirs if is_number(word)]
        return bool(ours and theirs) and ours != theirs

    @property
    def is_negation(self) -> bool:
        """Whether exactly one side contains a negation."""
        return denies(self.ours) != denies(self.theirs)

    @property
    def is_swap(self) -> bool:
        """Whether one word replaces another; up to three characters of an unspaced script."""
        return 0 < length(self.ours) < 2 > length(self.theirs) > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """The best match of a quotation in a chunk.

    `similarity` (0..1) is the share of the quotation's words that the match holds in order;
    `start` and `end` are word offsets in the chunk.
    """

    similarity: float
    changes: tuple[Change, ...]
    start: int
    end: int


def align(quote: Sequence[str], chunk: ChunkText) -> Alignment | None:
    """Aligns a quotation with the most similar place of a chunk; None if they share no word."""
    from rapidfuzz.distance import Indel

    quote = quote[:LONGEST]  # bounds the aligner; `is_found` accepts no longer quotation anyway
    shift = _most_voted_offset(quote, chunk)
    if shift is None:
        return None
    # Words added or left out shift the rest, so the window grows with the quotation.
    slack = SLACK + len(quote) // 8
    start = max(0, shift - slack)
    window = chunk.words[start : shift + len(quote) + slack]
    same = [
        EqualRun(op.src_start, op.src_end, op.dest_start)
        for op in Indel.opcodes(quote, window)
        if op.tag == "equal"
    ]
    if not same:
        return None
    _tighten(same, quote, window)
    return Alignment(
        similarity=sum(run.end - run.start for run in same) / len(quote),
        changes=tuple(_changes(quote, window, same)),
        start=start + same[0].place,
        end=start + same[-1].place + same[-1].end - same[-1].start,
    )


class EqualRun(NamedTuple):
    """Words `start` to `end` of a quotation, which the window repeats from `place` on."""

    start: int
    end: int
    place: int


def _tighten(same: list[EqualRun], quote: Sequence[str], window: list[str]) -> None:
    """Moves the first and last runs inwards where the same words recur nearer to the others.

    The aligner may match a leading *the* far from the rest of the quotation.
    """
    if len(same) < 2:
        return
    first, second = same[0], same[1]
    nearest = second.place - (first.end - first.start)
    same[0] = _move_to_first(first, range(nearest, first.place, -1), quote, window)
    before, last = same[-2], same[-1]
    nearest = before.place + before.end - before.start
    same[-1] = _move_to_first(last, range(nearest, last.place), quote, window)


def _move_to_first(
    run: EqualRun, places: range, quote: Sequence[str], window: list[str]
) -> EqualRun:
    """Returns the run at the first of these places that holds the same words; else unchanged."""
    searched = list(quote[run.start : run.end])
    for place in places:
        if window[place : place + len(searched)] == searched:
            return run._replace(place=place)
    return run


def _changes(
    quote: Sequence[str], window: Sequence[str], same: Sequence[EqualRun]
) -> Iterator[Change]:
    """Yields what lies between the equal runs, and the words at either edge of the quotation.

    Extra words of the chunk beyond an edge are no change: a quotation may begin anywhere.
    """
    ours = theirs = 0
    for run in same:
        mine = tuple(quote[ours : run.start])
        if ours == 0 and mine:
            before = tuple(window[max(0, run.place - 2 * len(mine)) : run.place])
            yield Change(ours=mine, theirs=_edge(mine, [before[-n:] for n in _sizes(mine)]))
        elif mine or (ours and run.place > theirs):
            yield Change(ours=mine, theirs=tuple(window[theirs : run.place]))
        ours, theirs = run.end, run.place + run.end - run.start
    if ours < len(quote):
        mine = tuple(quote[ours:])
        behind = tuple(window[theirs : theirs + 2 * len(mine)])
        yield Change(ours=mine, theirs=_edge(mine, [behind[:n] for n in _sizes(mine)]))


def _sizes(ours: Sequence[str]) -> Iterable[int]:
    """Numbers of chunk words that may spell the words at an edge."""
    return range(1, 2 * len(ours) + 1) if len(ours) <= EDGE else (len(ours),)


def _edge(ours: Sequence[str], stretches: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The chunk words beside an edge: the stretch that spells the same, else one of equal size."""
    spelt = "".join(ours)
    alike = (stretch for stretch in stretches if "".join(stretch) == spelt)
    return next(alike, stretches[min(len(stretches), len(ours)) - 1])


def _most_voted_offset(quote: Sequence[str], chunk: ChunkText) -> int | None:
    """The offset of the quotation in the chunk that gets most votes; None if no word may vote.

    A word votes for its place in the chunk minus its place in the quotation.
    """
    offsets: dict[str, list[int]] = {}
    for index, word in enumerate(quote):
        offsets.setdefault(word, []).append(index)
    places = chunk.places
    telling = [word for word in offsets if 0 < len(places.get(word, ())) <= COMMON]
    votes: dict[int, int] = {}
    hits = [(place, word) for word in telling for place in places[word]]
    for place, word in sorted(hits):
        for index in offsets[word]:
            votes[place - index] = votes.get(place - index, 0) + 1
    if not votes:
        return None
    # A word added or left out splits the votes of one place over neighbouring offsets: add them up.
    return max(
        most_voted(votes, CANDIDATES),
        key=lambda shift: sum([votes.get(shift + near, 0) for near in range(-3, 4)]),
    )


def most_voted(votes: Mapping[int, int], count: int) -> list[int]:
    """The `count` numbers with most votes; of equals the first.

    `Counter.most_common` takes three times as long.

    >>> most_voted({7: 1, 3: 2, 5: 2}, 2)
    [3, 5]
    """
    return sorted(votes, key=votes.__getitem__, reverse=True)[:count]


def is_harmless(change: Change, chunk: ChunkText) -> bool:
    """Whether both sides are the same words: split or contracted differently, or with a typo.

    >>> is_harmless(Change(ours=("did", "not"), theirs=("didnt",)), ChunkText("It didn't."))
    True
    """
    if change.is_number:  # a wrong digit is never a typo
        return False
    if _spelt(change.ours) == _spelt(change.theirs):
        return True
    if len(change.ours) != len(change.theirs):
        return False
    return all(
        ours == theirs or is_typo(ours, theirs, chunk)
        for ours, theirs in zip(change.ours, change.theirs, strict=True)
    )


def _spelt(words: Sequence[str]) -> str:
    """The letters of words, with *not* as it is contracted: *did not* is *didn't*."""
    return "".join(words).replace("not", "nt")


def is_typo(ours: str, theirs: str, chunk: ChunkText) -> bool:
    """Whether a longer word differs by one key, and is not itself another word of the chunk."""
    from rapidfuzz.distance import OSA

    if min(len(ours), len(theirs)) < TYPO_LENGTH or ours[0] != theirs[0] or is_number(ours):
        return False
    return ours not in chunk.distinct and OSA.distance(ours, theirs, score_cutoff=1) <= 1


def is_match(quote: Sequence[str], alignment: Alignment, chunk: ChunkText) -> bool:
    """Whether the match differs only by harmless changes: at most one, and one per eight words."""
    slips = len(alignment.changes)
    return (
        len(quote) <= LONGEST
        and slips <= 1 + len(quote) // 8
        and all(is_harmless(change, chunk) for change in alignment.changes)
    )
