"""Roll-ups of the store as arrays, with the rates of labels among the series."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import astuple
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alerts.deltas.rates import FAILED, with_rates
from alerts.deltas.settings import DeltaSettings, time_range
from alerts.deltas.windows import HOUR, MEASURES, TICK_SECONDS, Counts, Floats, Ints, Rollups, fold
from ragvigil.model.delta import Series
from ragvigil.store.engine.store import Priority, Store
from ragvigil.store.scores import rollups as stored
from ragvigil.store.scores.rollups import SeriesCounts

EVERY = "*"


def read(
    store: Store, start: int, end: int, settings: DeltaSettings, failing: Collection[str]
) -> Rollups:
    """Roll-ups of start..end, seconds since the epoch; `start` is moved back to a full hour.

    `failing` names the rubrics that a record can fail. Raises StoreError.
    """
    start -= start % 3600
    follows_labels = any(not rate.endswith(f":{FAILED}") for rate in settings.rates)
    found = [
        stored.counts(store, first, last, bin_seconds=TICK_SECONDS, with_labels=follows_labels)
        for first, last in _pieces(store, start, end)
    ]
    series = sorted({one for piece in found for one in piece.series}, key=astuple)
    place = {one: position for position, one in enumerate(series)}
    rollups = fold(
        series,
        start,
        end,
        index=_joined([_positions(piece.series, place)[piece.index] for piece in found]),
        minute=_joined([piece.start for piece in found]),
        counts=[_joined([getattr(piece, name) for piece in found]) for name in MEASURES],
    )
    labels = _labels(found, place, rollups)
    return with_rates(rollups, labels, wanted=settings.rates, failing=failing)


def _pieces(store: Store, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Ranges of whole hours that stay under the store's limit of rows for one query."""
    named = store.read("rollup_series", {"first": start, "end": end}, priority=Priority.TICK)
    hours = max(1, store.settings.query_rows // (2 * HOUR * max(1, len(named))))
    for first in range(start, end, hours * 3600):
        yield first, min(first + hours * 3600, end)


def _positions(series: Sequence[Series], place: Mapping[Series, int]) -> Ints:
    return np.array([place[one] for one in series], dtype=np.int64)


def _joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _labels(
    found: Sequence[SeriesCounts], place: Mapping[Series, int], rollups: Rollups
) -> dict[tuple[int, str], Floats]:
    """Records per bin, by position of the series and label."""
    labels: dict[tuple[int, str], Floats] = {}
    bins = rollups.counts.shape[1]
    for piece in found:
        for one in piece.labels:
            key = (place[piece.series[one.index]], one.label)
            counts = labels.setdefault(key, np.zeros(bins))
            counts += np.bincount(
                (one.start - rollups.start) // TICK_SECONDS, weights=one.records, minlength=bins
            )
    return labels


def release(
    store: Store, series: Collection[Series], settings: DeltaSettings, failing: Collection[str]
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
