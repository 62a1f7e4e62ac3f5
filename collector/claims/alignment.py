"""Aligns a chunk with a prompt that shows it changed or shortened: piece by piece, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

PIECE = 24
"""Characters without spaces: four or five words. Shorter pieces occur in any text."""
MOST_PIECES = 64
SLACK = 128
"""Characters by which the distance of two neighbours may differ: a note, a link without its URL."""
GAP = 2 * PIECE
LONGEST_GAP = 4_096
"""Characters of a chunk that may be missing in its middle."""
ANCHORS = 4

Match = tuple[int, int, int]
"""Offset in the chunk, offset in the text, length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """Where a chunk stands in a text: what of it, in order."""

    matches: tuple[Match, ...]

    @property
    def characters(self) -> int:
        """How many characters of the chunk are there."""
        return sum(size for _, _, size in self.matches)

    def stretches(self) -> Iterator[tuple[int, int]]:
        """The stretches of the text that it takes: a short gap between two matches is a change."""
        begin, end = self.start, self.start
        for _, place, size in self.matches:
            if place - end > GAP:
                yield begin, end
                begin = place
            end = place + size
        yield begin, end

    @property
    def start(self) -> int:
        """The offset of the first match in the text."""
        return self.matches[0][1]


def alignments(chunk: str, text: str, most: int) -> Iterator[Alignment]:
    """Ways to find a chunk in a text, at most `most`; begins with its rarest pieces."""
    step = max(PIECE, -(-len(chunk) // MOST_PIECES))
    offsets = range(0, max(len(chunk) - PIECE, 0) + 1, step)
    picked = sorted({offsets[len(offsets) * part // ANCHORS] for part in range(ANCHORS)})
    places = {at: _places(chunk[at : at + PIECE], text, most) for at in picked}
    seen: set[int] = set()
    for at in sorted(picked, key=lambda anchor: len(places[anchor])):
        for place in places[at]:
            if len(seen) >= most:
                return
            start = place - at
            if start not in seen:
                seen.add(start)
                matches = _matches(chunk, text, start, step)
                if matches:
                    yield Alignment(matches=tuple(matches))


def _places(piece: str, text: str, most: int) -> list[int]:
    places: list[int] = []
    at = text.find(piece)
    while at >= 0 and len(places) < most:
        places.append(at)
        at = text.find(piece, at + len(piece))
    return places


def _matches(chunk: str, text: str, start: int, step: int) -> list[Match]:
    """The stretches of a chunk that follow each other in the text, if it begins near `start`."""
    matches: list[Match] = []
    read, reached = 0, start
    at = 0
    while at < len(chunk) and at - read <= LONGEST_GAP:
        place = _near(chunk[at : at + PIECE], text, reached, reached + at - read)
        if place < 0:
            at += step
            continue
        lowest = reached if matches else max(place - at, 0)
        before = _common_end(chunk[read:at], text[lowest:place])
        behind = common_length(chunk[at:], text[place : place + len(chunk) - at])
        matches.append((at - before, place - before, before + behind))
        at = read = at + behind
        reached = place + behind
    return matches


def _near(piece: str, text: str, lowest: int, expected: int) -> int:
    """Where a piece stands near its expected offset, and not before the lowest; else -1."""
    if len(piece) < PIECE:
        return expected if expected >= 0 and text.startswith(piece, expected) else -1
    begin = max(expected - SLACK, min(lowest, expected), 0)
    return text.find(piece, begin, max(expected, 0) + SLACK + PIECE)


def shared_ends(chunks: Sequence[str]) -> list[tuple[int, int]]:
    """For each chunk with how many of its characters another one begins, and ends, as well.

    >>> shared_ends(["abc", "xyc", "abd"])
    [(2, 1), (0, 1), (2, 0)]
    """
    mirrored = [chunk[::-1] for chunk in chunks]
    return list(zip(_shared_prefixes(chunks), _shared_prefixes(mirrored), strict=True))


def _shared_prefixes(chunks: Sequence[str]) -> list[int]:
    order = sorted(range(len(chunks)), key=chunks.__getitem__)
    shared = [0] * len(chunks)
    for one, other in pairwise(order):
        length = common_length(chunks[one], chunks[other])
        shared[one] = max(shared[one], length)
        shared[other] = max(shared[other], length)
    return shared


def common_length(one: str, other: str) -> int:
    """With how many of the same characters two texts begin."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_end(one: str, other: str) -> int:
    return common_length(one[::-1], other[::-1])
