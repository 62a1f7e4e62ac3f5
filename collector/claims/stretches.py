"""Stretches of a text that are taken."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence


class Stretches:
    r"""Stretches of a text, (start, end) each, in order and disjoint.

    >>> taken = Stretches([(2, 4)])
    >>> taken.add(3, 6)
    >>> taken.free(0, 8), taken.masked("abcdefgh").split("\0")[0]
    (4, 'ab')
    """

    def __init__(self, stretches: Sequence[tuple[int, int]] = ()) -> None:
        self._stretches: list[tuple[int, int]] = list(stretches)

    def copy(self) -> Stretches:
        """Others may be added to the copy."""
        return Stretches(self._stretches)

    def add(self, start: int, end: int) -> None:
        """Takes a stretch, and joins it with those that it overlaps with."""
        first, last = self._touching(start, end)
        touched = [(start, end), *self._stretches[first:last]]
        union = min(start for start, _ in touched), max(end for _, end in touched)
        self._stretches[first:last] = [union]

    def _touching(self, start: int, end: int) -> tuple[int, int]:
        """The range of stretches that overlap with this one."""
        first = bisect_left(self._stretches, (start, start))
        if first and self._stretches[first - 1][1] > start:
            first -= 1
        return first, bisect_left(self._stretches, (end, end))

    def add_all(self, stretches: Iterable[tuple[int, int]]) -> None:
        """Takes several."""
        for start, end in stretches:
            self.add(start, end)

    def free(self, start: int, end: int) -> int:
        """How many characters of a stretch are not taken."""
        first, last = self._touching(start, end)
        return (
            end - start - sum(min(end, e) - max(start, s) for s, e in self._stretches[first:last])
        )

    def masked(self, text: str) -> str:
        """The text with a character that no reduced text has in place of what is taken."""
        pieces, read = [], 0
        for start, end in self._stretches:
            pieces += [text[read:start], "\0" * (end - start)]
            read = end
        return "".join([*pieces, text[read:]])
