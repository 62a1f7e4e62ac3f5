"""From arrays to rows: what is written to `rubric_deltas`, and what Prometheus shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from alerts.deltas.compute import Columns
from ragvigil.model.delta import BaselineKind, Delta, Moved, Series

SERIES = tuple(one.name for one in fields(Series))
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


def values(found: Columns, closed_until: int) -> dict[str, list[object]]:
    """Every field of `Delta` as a list, one entry a cell with something to say.

    `series` holds `Series` objects. Ticks after `closed_until` are open.
    """
    shown = found.has_row()
    tick, series = np.nonzero(shown)
    kinds = np.where(
        found.same_hours[shown], BaselineKind.SAME_HOURS.value, BaselineKind.FLAT.value
    )
    kinds = np.where(found.baseline_n[shown] > 0, kinds, BaselineKind.NONE.value)
    times = found.ticks[tick]
    return {
        "series": [found.series[one] for one in series],
        "tick": times.tolist(),
        "window": [found.window] * len(tick),
        "closed": (times <= closed_until).tolist(),
        "n": found.n[shown].astype(np.int64).tolist(),
        "n_effective": found.n_effective[shown].tolist(),
        "failed": found.failed[shown].astype(np.int64).tolist(),
        "baseline_kind": [KINDS[one] for one in kinds.tolist()],
        "baseline_n": found.baseline_n[shown].astype(np.int64).tolist(),
        "overdispersion": found.overdispersion[shown].tolist(),
        "sustained_drop": found.sustained_drop[shown].tolist(),
        "moved": [MOVED[one] for one in found.moved[shown].tolist()],
        "since": [one or None for one in found.since[shown].tolist()],
        **{name: _known(getattr(found, name)[shown]) for name in NUMBERS},
    }


def _known(numbers: NDArray[np.float64]) -> list[object]:
    # Running sums leave noise in the last digits; a delta of -6e-14 is none.
    return [None if one != one else one for one in (np.round(numbers, 9) + 0.0).tolist()]


def deltas(found: Iterable[Columns], closed_until: int) -> Iterator[Delta]:
    """The same as `Delta` objects; for a tick or two, not for a backfill."""
    names = [one.name for one in fields(Delta)]
    for columns in found:
        by_name = values(columns, closed_until)
        for row in zip(*(by_name[name] for name in names), strict=True):
            yield Delta(**dict(zip(names, row, strict=True)))


def stored(
    by_name: Mapping[str, list[object]], order: Iterable[str], **constants: object
) -> Iterator[tuple[object, ...]]:
    """Rows of the table, their columns in `order`; `constants` are equal in every row."""
    series = by_name["series"]
    columns = {
        **by_name,
        **{name: [getattr(one, name) for one in series] for name in SERIES},
        **{name: [value] * len(series) for name, value in constants.items()},
    }
    return zip(*(columns[name] for name in order), strict=True)
