"""Each slice of a service against its own past, and against the rest of the service.

A slice is *worse* where the interval of its change lies below `moved_points`, and it fell by more
than the rest: if all fall, no slice explains it. Intervals hold for all slices, rubrics and windows
of a service together (Bonferroni), so that a healthy service of a hundred slices names none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from statistics import NormalDist

import numpy as np

from alerts.deltas.compute import Columns, compute
from alerts.deltas.settings import DeltaSettings
from alerts.deltas.windows import MEASURES, Rollups, Sums, fold
from ragvigil.model.delta import Series
from ragvigil.model.score import Layer
from ragvigil.store.scores.slice_sums import OTHER, HourSums, SliceKey

HOUR, DAY = 3600, 86_400
PAST_DAYS = 9
COMPARED = ("6h", "24h")
AT_ONCE = 50
"""Slices that are compared at once: their arrays take 20 MB."""
ERRORS = 0.05
USUAL = NormalDist().inv_cdf(0.975)
Place = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceDelta:
    """A rubric in a slice over a window that ends at `tick` (seconds), against its past.

    `share` is that of the service's answers in the window. `low` and `high` bound `delta` for all
    comparisons together; `rest_delta` is the change of the rest of the service.
    """

    service: str
    environment: str
    dimension: str
    value: str
    rubric: str
    layer: str
    window: str
    tick: int
    share: float
    n: int
    mean: float
    baseline: float
    delta: float
    low: float
    high: float
    rest_delta: float | None
    is_worse: bool
    name: str = ""
    """What people call the value where that differs: a topic's value is its id."""


def slice_deltas(
    sums: Mapping[SliceKey, HourSums], end: int, rules: DeltaSettings, most: int
) -> list[SliceDelta]:
    """The deltas at `end`, a full hour in seconds, what is worse first, then the widest drop.

    `sums` reach back PAST_DAYS. Of each dimension the `most` frequent values are compared.
    """
    by_place: dict[Place, dict[SliceKey, HourSums]] = defaultdict(dict)
    for key, hours in _capped(sums, most).items():
        by_place[key.service, key.environment][key] = hours
    rows = [row for own in by_place.values() for row in _of_service(own, end, rules)]
    return sorted(rows, key=lambda row: (not row.is_worse, row.high, row.delta))


def _capped(sums: Mapping[SliceKey, HourSums], most: int) -> dict[SliceKey, HourSums]:
    """The sums, those of rare values together."""
    answers: dict[tuple[Place, str], dict[str, float]] = defaultdict(dict)
    for key, hours in sums.items():
        if not key.rubric and key.value != OTHER:
            place = ((key.service, key.environment), key.dimension)
            answers[place][key.value] = float(hours.sums[0].sum())
    kept = {
        (place, value)
        for place, values in answers.items()
        for value in sorted(values, key=lambda value: (-values[value], value))[:most]
    }
    capped: dict[SliceKey, HourSums] = {}
    for key, hours in sums.items():
        is_kept = (((key.service, key.environment), key.dimension), key.value) in kept
        name = key if is_kept else replace(key, value=OTHER)
        capped[name] = _joined(capped[name], hours) if name in capped else hours
    return capped


def _joined(first: HourSums, second: HourSums) -> HourSums:
    return HourSums(
        start=np.concatenate([first.start, second.start]),
        sums=np.concatenate([first.sums, second.sums], axis=1),
    )


def _of_service(
    sums: Mapping[SliceKey, HourSums], end: int, rules: DeltaSettings
) -> list[SliceDelta]:
    keys = [key for key in sums if key.rubric and key.dimension and _whole(key) in sums]
    rows = [
        row
        for first in range(0, len(keys), AT_ONCE)
        for row in _compared(keys[first : first + AT_ONCE], sums, end, rules)
    ]
    wider = NormalDist().inv_cdf(1 - ERRORS / 2 / max(1, len(rows))) / USUAL
    return [_judged(row, wider, rules) for row in rows]


@dataclass(frozen=True, slots=True)
class _Raw:
    """A delta before its interval is widened; `rest_half` is half of that of the rest."""

    row: SliceDelta
    rest_half: float


def _compared(
    keys: Sequence[SliceKey], sums: Mapping[SliceKey, HourSums], end: int, rules: DeltaSettings
) -> Iterator[_Raw]:
    columns = compute(Sums(_rollups(keys, sums, end)), np.array([end]), rules)
    for window in columns:
        if window.window not in COMPARED:
            continue
        seconds = DAY if window.window == "24h" else 6 * HOUR
        for place, key in enumerate(keys):
            raw = _raw(key, window, place, len(keys), rules)
            if raw is not None:
                share = _share(key, sums, end - seconds, end)
                yield _Raw(replace(raw.row, share=share), raw.rest_half)


def _rollups(keys: Sequence[SliceKey], sums: Mapping[SliceKey, HourSums], end: int) -> Rollups:
    """A series for each slice, then one for the rest of its service."""
    series: list[Series] = []
    index, minute, counts = [], [], []
    for is_rest in (False, True):
        for key in keys:
            parts = [(sums[key], 1.0)]
            if is_rest:
                parts = [(sums[_whole(key)], 1.0), (sums[key], -1.0)]
            for hours, sign in parts:
                index.append(np.full(len(hours.start), len(series)))
                minute.append(hours.start)
                counts.append(sign * hours.sums)
            route = f"{'!' * is_rest}{key.dimension}={key.value}"
            series.append(
                Series(
                    service=key.service,
                    environment=key.environment,
                    route=route,
                    rubric=key.rubric,
                    layer=Layer(key.layer),
                    segment=key.segment,
                )
            )
    measured = np.concatenate(counts, axis=1)
    unseen = np.zeros((len(MEASURES) - len(measured), measured.shape[1]))
    return fold(
        series,
        end - PAST_DAYS * DAY,
        end,
        index=np.concatenate(index),
        minute=np.concatenate(minute),
        counts=list(np.concatenate([measured, unseen])),
    )


def _raw(
    key: SliceKey, window: Columns, place: int, rest: int, rules: DeltaSettings
) -> _Raw | None:
    """The delta of a slice; None where it has too few scores or no past."""
    delta, n = window.delta[0, place], window.n_effective[0, place]
    if np.isnan(delta) or n < rules.moved_min_scores:
        return None
    other = float(window.delta[0, place + rest])
    low, high = float(window.low[0, place]), float(window.high[0, place])
    rest_half = float(window.high[0, place + rest] - window.low[0, place + rest]) / 2
    row = SliceDelta(
        service=key.service,
        environment=key.environment,
        dimension=key.dimension,
        value=key.value,
        rubric=key.rubric,
        layer=key.layer,
        window=window.window,
        tick=int(window.ticks[0]),
        share=0.0,
        n=int(window.n[0, place]),
        mean=float(window.mean[0, place]),
        baseline=float(window.baseline[0, place]),
        delta=float(delta),
        low=low,
        high=high,
        rest_delta=None if np.isnan(other) else other,
        is_worse=False,
    )
    return _Raw(row, 0.0 if np.isnan(rest_half) else rest_half)


def _judged(raw: _Raw, wider: float, rules: DeltaSettings) -> SliceDelta:
    """The row with its interval for all comparisons together, and whether it is worse."""
    row = raw.row
    half = wider * max(row.high - row.delta, row.delta - row.low)
    both = sqrt(half**2 + (wider * raw.rest_half) ** 2)
    against = row.delta - (row.rest_delta or 0.0)
    return replace(
        row,
        low=max(-1.0, row.delta - half),
        high=min(1.0, row.delta + half),
        is_worse=row.delta + half < -rules.moved_points and against + both < 0,
    )


def _whole(key: SliceKey) -> SliceKey:
    """The same of all answers of the service."""
    return replace(key, dimension="", value="")


def _share(key: SliceKey, sums: Mapping[SliceKey, HourSums], first: int, end: int) -> float:
    """The slice's share of its service's answers of a window."""
    own = replace(key, rubric="", layer="", segment="")
    counted = []
    for each in (own, _whole(own)):
        hours = sums.get(each)
        inside = (hours.start >= first) & (hours.start < end) if hours else np.zeros(0, bool)
        counted.append(float(hours.sums[0][inside].sum()) if hours else 0.0)
    return counted[0] / counted[1] if counted[1] else 0.0
