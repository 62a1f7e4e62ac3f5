"""Reads the store's roll-ups as arrays and adds the rates of labels as series."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import astuple
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alerts.deltas.kept_rollups import KeptRollups, read_pieces
from alerts.deltas.rates import FAILED, with_rates
from alerts.deltas.samples import with_samples
from alerts.deltas.settings import DeltaSettings, time_range
from alerts.deltas.windows import (
    MEASURES,
    TICK_SECONDS,
    Floats,
    Ints,
    Rollups,
    Sums,
    Tally,
    fold,
)
from ragvigil.model.delta import Series
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import estimate_sums
from ragvigil.store.scores.rollups import SeriesCounts

EVERY = "*"
"""The service name in `release_baselines` that stands for all others."""


def read(
    store: Store,
    start: int,
    end: int,
    settings: DeltaSettings,
    failing: Collection[str],
    kept: KeptRollups | None = None,
) -> Rollups:
    """Reads the roll-ups of start..end, seconds since the epoch, from a full hour on.

    `failing` names the rubrics that a record can fail; `kept` has what an earlier read saw. Raises
    StoreError.
    """
    start -= start % 3600
    # `failed` is counted in the roll-ups themselves; other labels are read only for a rate.
    follows_labels = any(not rate.endswith(f":{FAILED}") for rate in settings.rates)
    if kept is not None:
        pieces = kept.read(start, end, with_labels=follows_labels)
    else:
        pieces = [counts for *_, counts in read_pieces(store, start, end, follows_labels)]
    # The newest first: older rows do not say who scored.
    known = {each for piece in reversed(pieces) for each in piece.series}
    series = sorted(known, key=astuple)
    place = {each: position for position, each in enumerate(series)}
    rollups = fold(
        series,
        start,
        end,
        index=_joined([_positions(piece.series, place)[piece.index] for piece in pieces]),
        minute=_joined([piece.start for piece in pieces]),
        counts=[_joined([getattr(piece, name) for piece in pieces]) for name in MEASURES],
    )
    labels = _labels(pieces, place, rollups)
    rated = with_rates(rollups, labels, wanted=settings.rates, failing=failing)
    return with_samples(rated, estimate_sums.read(store, start, end))


def _positions(series: Sequence[Series], place: Mapping[Series, int]) -> Ints:
    return np.array([place[each] for each in series], dtype=np.int64)


def _joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _labels(
    pieces: Sequence[SeriesCounts], place: Mapping[Series, int], rollups: Rollups
) -> dict[tuple[int, str], Floats]:
    """Counts records per bin, by position of the series and label."""
    labels: dict[tuple[int, str], Floats] = {}
    bins = rollups.counts.shape[1]
    for piece in pieces:
        for count in piece.labels:
            key = (place[piece.series[count.index]], count.label)
            counts = labels.setdefault(key, np.zeros(bins))
            counts += np.bincount(
                (count.start - rollups.start) // TICK_SECONDS, weights=count.records, minlength=bins
            )
    return labels


def release(
    store: Store, rollups: Rollups, settings: DeltaSettings, failing: Collection[str]
) -> Tally | None:
    """Reads the sums of the pinned release by series, None where no release is pinned."""
    if not settings.release_baselines:
        return None
    none = np.zeros(1, dtype=np.int64)
    totals = Sums(rollups).tally(none, none)
    columns = {int(position): column for column, position in enumerate(rollups.sampled)}
    for service, text in settings.release_baselines.items():
        start, end = time_range(text)
        pinned = read(store, start, end, settings, failing)
        place = {each: position for position, each in enumerate(pinned.series)}
        sums = pinned.counts.sum(axis=1), pinned.questions.sum(axis=1)
        samples = dict(zip(pinned.sampled.tolist(), pinned.samples.sum(axis=1).T, strict=True))
        for position, each in enumerate(rollups.series):
            is_own = each.service == service
            # A service's own pin goes before the one for all.
            is_any = service == EVERY and each.service not in settings.release_baselines
            if (is_own or is_any) and each in place:
                totals.counts[:, 0, position] = sums[0][:, place[each]]
                totals.questions[:, 0, position] = sums[1][:, place[each]]
                if position in columns and place[each] in samples:
                    totals.samples[:, 0, columns[position]] = samples[place[each]]
    return totals
