"""Many rows under one set of labels: the segments of a series, the routes beyond the cap."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ragvigil.model.delta import Delta, Moved

Key = tuple[str, ...]


def pooled(rows: Iterable[Delta], place: Callable[[Delta], Key]) -> dict[Key, Delta]:
    """One row a key. Of a series' segments the one with most scores speaks: never their mix.

    Routes that share a key are pooled by their number of scores; what cannot be pooled
    (intervals, flags) is unknown then.
    """
    speaking: dict[Key, Delta] = {}
    for row in rows:
        one = row.series
        series = (one.service, one.environment, one.route, one.rubric, row.window)
        if series not in speaking or row.n > speaking[series].n:
            speaking[series] = row
    groups: dict[Key, list[Delta]] = {}
    for row in speaking.values():
        groups.setdefault(place(row), []).append(row)
    return {key: rows[0] if len(rows) == 1 else _pool(rows) for key, rows in groups.items()}


def _pool(rows: Sequence[Delta]) -> Delta:
    return replace(
        rows[0],
        n=sum(row.n for row in rows),
        failed=sum(row.failed for row in rows),
        mean=_weighted(rows, lambda row: row.mean),
        baseline=_weighted(rows, lambda row: row.baseline),
        delta=_weighted(rows, lambda row: row.delta),
        coverage=_weighted(rows, lambda row: row.coverage),
        low=None,
        high=None,
        release_delta=None,
        detection_limit=None,
        sustained_drop=any(row.sustained_drop for row in rows),
        moved=Moved.NO,
        since=None,
    )


def _weighted(rows: Sequence[Delta], read: Callable[[Delta], float | None]) -> float | None:
    known = [(row.n, value) for row in rows if (value := read(row)) is not None and row.n]
    weight = sum(n for n, _ in known)
    return sum(n * value for n, value in known) / weight if weight else None
