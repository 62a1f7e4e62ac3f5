"""Roll-ups of the store as arrays, with the rates of labels among the series."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alerts.rates import FAILED, with_rates
from alerts.settings import AlertsSettings, time_range
from alerts.windows import MEASURES, TICK_SECONDS, Counts, Floats, Rollups, fold
from ragvigil.model.delta import Series
from ragvigil.model.score import Layer
from ragvigil.store import ticks as stored
from ragvigil.store.store import Store

EVERY = "*"


def read(
    store: Store, start: int, end: int, settings: AlertsSettings, failing: Collection[str]
) -> Rollups:
    """Roll-ups of start..end, seconds since the epoch; `start` is moved back to a full hour.

    `failing` names the rubrics that a record can fail.
    """
    start -= start % 3600
    named = stored.series(store, start, end)
    numbers = np.array([one["series"] for one in named], dtype=np.uint64)
    order = np.argsort(numbers)
    bins = stored.bins(store, start, end, len(named))
    rollups = fold(
        [_series(one) for one in named],
        start,
        end,
        index=_positions(numbers, order, bins["series"]),
        minute=bins["bin"].astype(np.int64),
        counts=[bins[name].astype(np.float64) for name in MEASURES],
    )
    rubrics = sorted(_followed(settings, rollups.series))
    labels: Mapping[tuple[int, str], Floats] = {}
    if rubrics:
        rows = stored.labels(store, start, end, len(named), rubrics)
        labels = _labels(rows, _positions(numbers, order, rows["series"]), rollups)
    return with_rates(rollups, labels, wanted=settings.rates, failing=failing)


def _series(row: Mapping[str, Any]) -> Series:
    return Series(
        service=row["service"],
        environment=row["environment"],
        route=row["route"],
        rubric=row["rubric"],
        layer=Layer(row["layer"]),
        segment=row["segment"],
    )


def _positions(
    numbers: NDArray[np.uint64], order: NDArray[np.int64], wanted: NDArray[Any]
) -> NDArray[np.int64]:
    if not len(numbers):
        return np.zeros(0, dtype=np.int64)
    return np.asarray(order[np.searchsorted(numbers[order], wanted.astype(np.uint64))])


def _followed(settings: AlertsSettings, series: Collection[Series]) -> set[str]:
    """Rubrics with a label, other than `failed`, that is followed as a rate."""
    named = {one.partition(":")[0] for one in settings.rates if not one.endswith(f":{FAILED}")}
    return named & {one.rubric for one in series}


def _labels(
    rows: Mapping[str, NDArray[Any]], positions: NDArray[np.int64], rollups: Rollups
) -> dict[tuple[int, str], Floats]:
    bins = rollups.counts.shape[1]
    place = (rows["bin"].astype(np.int64) - rollups.start) // TICK_SECONDS
    found: dict[tuple[int, str], Floats] = {}
    cells = zip(positions, place, rows["label"], rows["records"], strict=True)
    for position, one, label, records in cells:
        if 0 <= one < bins:
            counts = found.setdefault((int(position), str(label)), np.zeros(bins))
            counts[one] += float(records)
    return found


def release(
    store: Store, series: Collection[Series], settings: AlertsSettings, failing: Collection[str]
) -> Counts | None:
    """Counts of the pinned release by series, None where no release is pinned."""
    if not settings.release_baselines:
        return None
    totals = np.zeros((len(MEASURES), len(series)))
    for service, text in settings.release_baselines.items():
        start, end = time_range(text)
        pinned = read(store, start, end, settings, failing)
        place = {one: position for position, one in enumerate(pinned.series)}
        sums = pinned.counts.sum(axis=1)
        for position, one in enumerate(series):
            is_own = one.service == service
            is_any = service == EVERY and one.service not in settings.release_baselines
            if (is_own or is_any) and one in place:
                totals[:, position] = sums[:, place[one]]
    return Counts(*totals)
