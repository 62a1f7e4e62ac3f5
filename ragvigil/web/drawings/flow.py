"""Which chunks reached the prompt: curves from their rank as retrieved to their rank after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragvigil.web.drawings.path import at

WIDTH, ROW = 132, 44
GAP = 8
"""Between a row's text and the end of its curve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A chunk that was kept; `begin` and `end` are the y of its ends."""

    path: str
    begin: int
    end: int
    is_answering: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """The curves between two lists. `dropped` are the y of rows on the left that go nowhere.

    `left` and `right` say of each row, in order, where it went and where it came from.
    """

    says: str
    height: int
    curves: tuple[Curve, ...]
    dropped: tuple[int, ...]
    left: tuple[str, ...]
    right: tuple[str, ...]


def flow(retrieved: Sequence[str], kept: Sequence[str], answering: str = "") -> Flow:
    """Draws two ranked lists of chunk ids; `answering` is the id of the chunk that answers.

    An id that occurs twice in a list goes by its first place.

    >>> drawn = flow(["a", "b", "c"], ["c", "a"], answering="c")
    >>> drawn.left, drawn.right, drawn.dropped
    (('to rank 2', 'dropped', 'to rank 1'), ('up 2', 'down 1'), (66,))
    >>> drawn.curves[1].path
    'M8 110C66 110 66 22 124 22'
    """
    ranks = {chunk: rank for rank, chunk in reversed(list(enumerate(kept)))}
    before = {chunk: rank for rank, chunk in reversed(list(enumerate(retrieved)))}
    curves = tuple(
        _curve(row, ranks[chunk], chunk == answering)
        for row, chunk in enumerate(retrieved)
        if chunk in ranks and before[chunk] == row
    )
    dropped = tuple(_middle(row) for row, chunk in enumerate(retrieved) if chunk not in ranks)
    return Flow(
        says=f"{len(retrieved)} chunks retrieved, {len(kept)} kept, {len(dropped)} dropped",
        height=ROW * max(len(retrieved), len(kept)),
        curves=curves,
        dropped=dropped,
        left=tuple(
            f"to rank {ranks[each] + 1}" if each in ranks else "dropped" for each in retrieved
        ),
        right=tuple(_moved(before.get(chunk), rank) for rank, chunk in enumerate(kept)),
    )


def _curve(row: int, to: int, is_answering: bool) -> Curve:
    begin, end, half = _middle(row), _middle(to), WIDTH / 2
    bend = f"C{at(half)} {begin} {at(half)} {end}"
    path = f"M{GAP} {begin}{bend} {WIDTH - GAP} {end}"
    return Curve(path=path, begin=begin, end=end, is_answering=is_answering)


def _middle(row: int) -> int:
    return ROW * row + ROW // 2


def _moved(before: int | None, rank: int) -> str:
    if before is None:
        return "added"
    if before == rank:
        return "stays"
    return f"{'up' if rank < before else 'down'} {abs(before - rank)}"
