"""Turns arrays into rows: of the tables of deltas, and `Delta` objects for the gauges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from alerts.deltas.changes import rounded
from alerts.deltas.compute import Columns
from alerts.deltas.measure import ESTIMATES
from ragvigil.model.delta import BaselineKind, Delta, Moved, Series

SERIES = tuple(field.name for field in fields(Series))
KINDS = {kind.value: kind for kind in BaselineKind}
MOVED = {-1: Moved.FELL, 0: Moved.NO, 1: Moved.ROSE}
NUMBERS = (
    "coverage",
    "mean",
    "plain_mean",
    "judged_share",
    "baseline",
    "delta",
    "low",
    "high",
    "release_baseline",
    "release_delta",
    "release_low",
    "release_high",
    "detection_limit",
)
"""Fields that may be unknown: NaN in arrays, None in rows."""


def values(
    columns: Columns, closed_until: int, chosen: NDArray[np.bool_]
) -> dict[str, list[object]]:
    """Returns every field of `Delta` as a list, one entry per chosen cell.

    `series` holds `Series` objects. Ticks after `closed_until` are open.
    """
    tick, series = np.nonzero(chosen)
    kinds = np.where(
        columns.same_hours[chosen], BaselineKind.SAME_HOURS.value, BaselineKind.FLAT.value
    )
    kinds = np.where(columns.baseline_n[chosen] > 0, kinds, BaselineKind.NONE.value)
    times = columns.ticks[tick]
    return {
        "series": [columns.series[position] for position in series],
        "tick": times.tolist(),
        "window": [columns.window] * len(tick),
        "closed": (times <= closed_until).tolist(),
        "n": columns.n[chosen].astype(np.int64).tolist(),
        "n_effective": rounded(columns.n_effective[chosen]).tolist(),
        "failed": columns.failed[chosen].astype(np.int64).tolist(),
        "estimate": [ESTIMATES[place] for place in columns.estimate[chosen].tolist()],
        "baseline_kind": [KINDS[kind] for kind in kinds.tolist()],
        "baseline_n": columns.baseline_n[chosen].astype(np.int64).tolist(),
        "overdispersion": rounded(columns.overdispersion[chosen]).tolist(),
        "sustained_drop": columns.sustained_drop[chosen].tolist(),
        "moved": [MOVED[direction] for direction in columns.moved[chosen].tolist()],
        "since": [start or None for start in columns.since[chosen].tolist()],
        **{name: _or_none(getattr(columns, name)[chosen]) for name in NUMBERS},
    }


def _or_none(numbers: NDArray[np.float64]) -> list[object]:
    return [None if number != number else number for number in rounded(numbers).tolist()]


def deltas(windows: Iterable[Columns], closed_until: int) -> Iterator[Delta]:
    """Yields the rows as `Delta` objects; for a tick or two, too slow for a backfill."""
    names = [field.name for field in fields(Delta)]
    for columns in windows:
        by_name = values(columns, closed_until, columns.has_row())
        for row in zip(*(by_name[name] for name in names), strict=True):
            yield Delta(**dict(zip(names, row, strict=True)))


def stored(
    by_name: Mapping[str, list[object]], order: Iterable[str], **constants: object
) -> Iterator[tuple[object, ...]]:
    """Yields rows of a table, their columns in `order`; `constants` are equal in every row."""
    series = by_name["series"]
    columns = {
        **by_name,
        **{name: [getattr(each, name) or "" for each in series] for name in SERIES},
        **{name: [value] * len(series) for name, value in constants.items()},
    }
    return zip(*(columns[name] for name in order), strict=True)
