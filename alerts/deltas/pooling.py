"""Pools rows that share one set of labels: segments of a series, and routes beyond the cap."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ragvigil.model.delta import Delta, Moved

Key = tuple[str, ...]


def pooled(rows: Iterable[Delta], place: Callable[[Delta], Key]) -> dict[Key, Delta]:
    """Returns one row per key.

    Of the segments of one kind the one with most scores stands for a series: scores of two judge
    versions are never averaged, and neither a judge nor a local scorer stands for the other.
    Routes that share a key are weighted by their number of scores; intervals and detection limits,
    which cannot be pooled, are None then.
    """
    largest: dict[Key, Delta] = {}
    for row in rows:
        series = row.series
        kind = series.kind or ""
        key = (series.service, series.environment, series.route, series.rubric, kind, row.window)
        if key not in largest or row.n > largest[key].n:
            largest[key] = row
    groups: dict[Key, list[Delta]] = {}
    for row in largest.values():
        groups.setdefault(place(row), []).append(row)
    return {key: rows[0] if len(rows) == 1 else _pool(rows) for key, rows in groups.items()}


def _pool(rows: Sequence[Delta]) -> Delta:
    return replace(
        rows[0],
        n=sum(row.n for row in rows),
        failed=sum(row.failed for row in rows),
        mean=_weighted(rows, lambda row: row.mean),
        plain_mean=_weighted(rows, lambda row: row.plain_mean),
        judged_share=_weighted(rows, lambda row: row.judged_share),
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
    weighted = [(row.n, value) for row in rows if (value := read(row)) is not None and row.n]
    weight = sum(n for n, _ in weighted)
    return sum(n * value for n, value in weighted) / weight if weight else None
