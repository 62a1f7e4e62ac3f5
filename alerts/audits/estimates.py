"""Judged means with what local models know of the records that were not judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from alerts.deltas.two_phase import judged_mean
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import paired
from ragvigil.store.scores.paired import Pair


def estimates(store: Store, since: int) -> list[Mapping[str, object]]:
    """The two-phase estimate of every judged series since then (seconds since the epoch)."""
    found: list[Mapping[str, object]] = []
    for series, pairs in paired.pairs(store, since):
        estimate = _estimate(pairs)
        if estimate is not None:
            found.append(asdict(series) | {"records": len(pairs)} | estimate)
    return found


def _estimate(pairs: Sequence[Pair]) -> dict[str, object] | None:
    import numpy as np

    place = [number for number, one in enumerate(pairs) if one.judged is not None]
    judged = np.array([pairs[number].judged for number in place], float)
    made = judged_mean(
        np.array([np.nan if one.cheap is None else one.cheap for one in pairs], float),
        judged,
        np.array(place, int),
        np.array([pairs[number].probability for number in place], float),
    )
    if made is None:
        return None
    names = ("mean", "low", "high", "n", "n_effective", "slope")
    return {name: getattr(made, name) for name in names} | {"plain_mean": float(judged.mean())}
