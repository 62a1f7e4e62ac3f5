"""From arrays to rows: what is written to `rubric_deltas` and shown to Prometheus."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from alerts.deltas import Columns
from ragvigil.model.delta import BaselineKind, Delta, Moved

MOVED = {-1: Moved.FELL, 0: Moved.NO, 1: Moved.ROSE}


def rows(found: Iterable[Columns], closed_until: int) -> Iterator[Delta]:
    """A `Delta` for every cell with something to say; ticks after `closed_until` are open."""
    for columns in found:
        for tick, series in zip(*np.nonzero(columns.has_row()), strict=True):
            yield _row(columns, int(tick), int(series), closed_until)


def _row(columns: Columns, tick: int, series: int, closed_until: int) -> Delta:
    def number(name: str) -> float | None:
        value = float(getattr(columns, name)[tick, series])
        return None if math.isnan(value) else value

    has_past = columns.baseline_n[tick, series] > 0
    kind = BaselineKind.SAME_HOURS if columns.same_hours[tick, series] else BaselineKind.FLAT
    time = int(columns.ticks[tick])
    return Delta(
        series=columns.series[series],
        tick=time,
        window=columns.window,
        closed=time <= closed_until,
        n=int(columns.n[tick, series]),
        n_effective=float(columns.n_effective[tick, series]),
        failed=int(columns.failed[tick, series]),
        coverage=number("coverage"),
        mean=number("mean"),
        baseline=number("baseline"),
        baseline_kind=kind if has_past else BaselineKind.NONE,
        baseline_n=int(columns.baseline_n[tick, series]),
        delta=number("delta"),
        low=number("low"),
        high=number("high"),
        release_baseline=number("release_baseline"),
        release_delta=number("release_delta"),
        release_low=number("release_low"),
        release_high=number("release_high"),
        overdispersion=float(columns.overdispersion[tick, series]),
        detection_limit=number("detection_limit"),
        sustained_drop=bool(columns.sustained_drop[tick, series]),
        moved=MOVED[int(columns.moved[tick, series])],
        since=int(columns.since[tick, series]) or None,
    )
