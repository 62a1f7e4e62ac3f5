"""Judged means, corrected by local models' scores of the records that were not judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from alerts.deltas.two_phase import TwoPhase, judged_mean
from ragvigil.model.delta import Series
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import paired
from ragvigil.store.scores.paired import Pair


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesEstimate:
    """The judged mean of a series, with its interval.

    `records` counts the records that were judged or scored by a local model; `plain_mean` is the
    mean of the judged records alone.
    """

    series: Series
    records: int
    plain_mean: float
    estimate: TwoPhase


def estimates(store: Store, since: int) -> list[SeriesEstimate]:
    """Estimates the judged mean of every series since a time (seconds since the epoch).

    Raises StoreError.
    """
    rows = (_estimate(series, pairs) for series, pairs in paired.pairs(store, since))
    return [estimate for estimate in rows if estimate is not None]


def _estimate(series: Series, pairs: Sequence[Pair]) -> SeriesEstimate | None:
    import numpy as np

    place = [number for number, pair in enumerate(pairs) if pair.judged is not None]
    judged = np.array([pairs[number].judged for number in place], float)
    estimate = judged_mean(
        np.array([np.nan if pair.cheap is None else pair.cheap for pair in pairs], float),
        judged,
        np.array(place, int),
        np.array([pairs[number].probability for number in place], float),
    )
    if estimate is None:
        return None
    return SeriesEstimate(
        series=series,
        records=len(pairs),
        plain_mean=float(judged.mean()),
        estimate=estimate,
    )
