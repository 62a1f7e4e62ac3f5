"""Turns arrays into rows: of the table `rubric_deltas`, and `Delta` objects for the gauges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from alerts.deltas.compute import Columns
from ragvigil.model.delta import BaselineKind, Delta, Moved, Series

SERIES = tuple(field.name for field in fields(Series))
KINDS = {kind.value: kind for kind in BaselineKind}
MOVED = {-1: Moved.FELL, 0: Moved.NO, 1: Moved.ROSE}
NUMBERS = (
    "coverage",
    "mean",
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


def values(columns: Columns, closed_until: int) -> dict[str, list[object]]:
    """Returns every field of `Delta` as a list, one entry per cell that has data.

    `series` holds `Series` objects. Ticks after `closed_until` are open.
    """
    has_row = columns.has_row()
    tick, series = np.nonzero(has_row)
    kinds = np.where(
        columns.same_hours[has_row], BaselineKind.SAME_HOURS.value, BaselineKind.FLAT.value
    )
    kinds = np.where(columns.baseline_n[has_row] > 0, kinds, BaselineKind.NONE.value)
    times = columns.ticks[tick]
    return {
        "series": [columns.series[position] for position in series],
        "tick": times.tolist(),
        "window": [columns.window] * len(tick),
        "closed": (times <= closed_until).tolist(),
        "n": columns.n[has_row].astype(np.int64).tolist(),
        "n_effective": columns.n_effective[has_row].tolist(),
        "failed": columns.failed[has_row].astype(np.int64).tolist(),
        "baseline_kind": [KINDS[kind] for kind in kinds.tolist()],
        "baseline_n": columns.baseline_n[has_row].astype(np.int64).tolist(),
        "overdispersion": columns.overdispersion[has_row].tolist(),
        "sustained_drop": columns.sustained_drop[has_row].tolist(),
        "moved": [MOVED[direction] for direction in columns.moved[has_row].tolist()],
        "since": [start or None for start in columns.since[has_row].tolist()],
        **{name: _or_none(getattr(columns, name)[has_row]) for name in NUMBERS},
    }


def _or_none(numbers: NDArray[np.float64]) -> list[object]:
    # Running sums leave noise in the last digits (a delta of -6e-14 is 0); + 0.0 turns -0.0 to 0.0.
    rounded = (np.round(numbers, 9) + 0.0).tolist()
    return [None if number != number else number for number in rounded]


def deltas(windows: Iterable[Columns], closed_until: int) -> Iterator[Delta]:
    """Yields the rows as `Delta` objects; for a tick or two, too slow for a backfill."""
    names = [field.name for field in fields(Delta)]
    for columns in windows:
        by_name = values(columns, closed_until)
        for row in zip(*(by_name[name] for name in names), strict=True):
            yield Delta(**dict(zip(names, row, strict=True)))


def stored(
    by_name: Mapping[str, list[object]], order: Iterable[str], **constants: object
) -> Iterator[tuple[object, ...]]:
    """Yields rows of the table, their columns in `order`; `constants` are equal in every row."""
    series = by_name["series"]
    columns = {
        **by_name,
        **{name: [getattr(each, name) for each in series] for name in SERIES},
        **{name: [value] * len(series) for name, value in constants.items()},
    }
    return zip(*(columns[name] for name in order), strict=True)
