"""Spans of a trace as bars on one time axis, each under its parent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragvigil.model import figures

MOST_LEVELS = 5
LEAST_WIDTH = 0.4
"""Percent: a span too short to see is still drawn."""
MARKS = 4
STEPS = (1.0, 2.0, 5.0)
ROOM = 88.0
"""Percent of the width that bars take; the rest is for the duration after the longest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """A span to draw: times in nanoseconds, `kind` as it was recorded, `hue` a layer or empty."""

    span_id: str
    parent_id: str
    name: str
    kind: str
    begin: int
    end: int
    hue: str = ""
    has_failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A span as drawn: places in percent; `level` is how deep it lies, at most MOST_LEVELS."""

    span: Timed
    level: int
    x: float
    width: float
    words_x: float
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Waterfall:
    """Rows from the top, and marks of the axis as place and words."""

    rows: tuple[Row, ...]
    marks: tuple[tuple[float, str], ...]
    total: str


def waterfall(spans: Sequence[Timed]) -> Waterfall:
    """Draws spans, parents first, children by their begin; without its parent, a span is a root.

    >>> whole = Timed(span_id="a", parent_id="", name="ask", kind="", begin=0, end=80_000_000)
    >>> times = {"begin": 20_000_000, "end": 60_000_000}
    >>> part = Timed(span_id="b", parent_id="a", name="llm", kind="", **times)
    >>> [(row.level, row.x, row.width, row.words) for row in waterfall([part, whole]).rows]
    [(0, 0.0, 88.0, '80 ms'), (1, 22.0, 44.0, '40 ms')]
    >>> waterfall([part, whole]).marks
    ((0.0, '0 ms'), (22.0, '20 ms'), (44.0, '40 ms'), (66.0, '60 ms'), (88.0, '80 ms'))
    """
    if not spans:
        return Waterfall(rows=(), marks=(), total=figures.UNKNOWN)
    begin, end = min(span.begin for span in spans), max(span.end for span in spans)
    length = max(end - begin, 1)
    rows = tuple(_row(span, level, begin, length) for span, level in _in_order(spans))
    return Waterfall(rows=rows, marks=_marks(length), total=figures.duration(length / 1e9))


def _row(span: Timed, level: int, begin: int, length: int) -> Row:
    x = round((span.begin - begin) / length * ROOM, 2)
    width = round(max((span.end - span.begin) / length * ROOM, LEAST_WIDTH), 2)
    words = figures.duration(max(span.end - span.begin, 0) / 1e9)
    return Row(
        span=span, level=level, x=x, width=width, words_x=round(x + width + 0.6, 2), words=words
    )


def _in_order(spans: Sequence[Timed]) -> list[tuple[Timed, int]]:
    """Each span with its level, depth first; also those of a circle of parents, once."""
    known = {span.span_id for span in spans}
    children: dict[str, list[Timed]] = {}
    for span in sorted(spans, key=lambda span: (span.begin, -span.end)):
        children.setdefault(span.parent_id if span.parent_id in known else "", []).append(span)
    ordered: list[tuple[Timed, int]] = []
    seen: set[int] = set()
    for start in (children.get("", []), spans):
        _walk(start, children, ordered, seen)
    return ordered


def _walk(
    roots: Sequence[Timed],
    children: Mapping[str, Sequence[Timed]],
    ordered: list[tuple[Timed, int]],
    seen: set[int],
) -> None:
    waiting = [(span, 0) for span in reversed(roots)]
    while waiting:
        span, level = waiting.pop()
        if id(span) in seen:
            continue
        seen.add(id(span))
        ordered.append((span, min(level, MOST_LEVELS)))
        waiting += [(child, level + 1) for child in reversed(children.get(span.span_id, []))]


def _marks(length: int) -> tuple[tuple[float, str], ...]:
    """Round times, at most MARKS steps; `length` in nanoseconds."""
    tens = 10.0 ** (len(str(length // MARKS)) - 1)
    step = next((tens * each for each in STEPS if tens * each * (MARKS + 1) > length), 10 * tens)
    times = (step * index for index in range(MARKS + 1))
    return tuple(
        (round(time / length * ROOM, 2), figures.duration(time / 1e9))
        for time in times
        if time <= length
    )
