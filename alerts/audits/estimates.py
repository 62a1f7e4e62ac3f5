"""Judged means, corrected by local models' scores of the records that were not judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from alerts.deltas.two_phase import judged_mean
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import paired
from ragvigil.store.scores.paired import Pair


def estimates(store: Store, since: int) -> list[Mapping[str, object]]:
    """Estimates the judged mean of every series since a time (seconds since the epoch).

    Raises StoreError.
    """
    rows: list[Mapping[str, object]] = []
    for series, pairs in paired.pairs(store, since):
        estimate = _estimate(pairs)
        if estimate is not None:
            rows.append(asdict(series) | {"records": len(pairs)} | estimate)
    return rows


def _estimate(pairs: Sequence[Pair]) -> dict[str, object] | None:
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
    names = ("mean", "low", "high", "n", "n_effective", "slope")
    return {name: getattr(estimate, name) for name in names} | {"plain_mean": float(judged.mean())}
