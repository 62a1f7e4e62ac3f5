"""Lines through points as SVG paths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Point = tuple[float, float]


def path(points: Iterable[Point | None]) -> str:
    """A line through the points, with a gap at each None; a point alone is a short stroke.

    >>> path([(0, 1), (2, 3.25), None, (6, 7)])
    'M0 1L2 3.25M6 7h.01'
    """
    return "".join(_stroke(run) for run in _runs(points))


def ribbon(upper: Sequence[Point | None], lower: Sequence[Point | None]) -> str:
    """The area between two lines over the same x, with a gap where either is None.

    >>> ribbon([(0, 1), (2, 1)], [(0, 3), (2, 4)])
    'M0 1L2 1L2 4L0 3Z'
    """
    pairs = list(zip(upper, lower, strict=True))
    tops = _runs(top if low else None for top, low in pairs)
    lows = _runs(low if top else None for top, low in pairs)
    return "".join(
        f"{_stroke([*top, *reversed(low)])}Z"
        for top, low in zip(tops, lows, strict=True)
        if len(top) > 1
    )


def at(number: float) -> str:
    """A coordinate as short as it can be written.

    >>> at(12.0), at(3.14159)
    ('12', '3.14')
    """
    return f"{number:.2f}".rstrip("0").rstrip(".")


def _runs(points: Iterable[Point | None]) -> list[list[Point]]:
    runs: list[list[Point]] = [[]]
    for point in points:
        if point is not None:
            runs[-1].append(point)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _stroke(run: Sequence[Point]) -> str:
    first, *rest = (f"{at(x)} {at(y)}" for x, y in run)
    return f"M{first}{''.join(f'L{point}' for point in rest) or 'h.01'}"
