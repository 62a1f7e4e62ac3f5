"""The detector of sustained drops in the store: its states, and the scores of its ticks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragvigil.model.delta import TICK_SECONDS, Series
from ragvigil.store.engine.batch import Batch, token_of
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.table import table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragvigil.store.engine.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredState:
    """What is known of a series, as numbers."""

    series: Series
    numbers: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Histograms:
    """Scores by series, tick and bin, a row each: arrays of one length.

    `index` is a position in `series`, `start` the start of the tick in seconds since the epoch,
    `value` the bin (0 to 20) of the scores that `scores` counts.
    """

    series: tuple[Series, ...]
    index: NDArray[Any]
    start: NDArray[Any]
    value: NDArray[Any]
    scores: NDArray[Any]


STATES = table("drift_states", StoredState)


def write(store: Store, states: Iterable[StoredState], written_unix_nano: int) -> None:
    """Stores states in place of those of the same series; returns when they are durable."""
    stamps = {"written": written_unix_nano, "replica": store.replica, "epoch": store.epoch}
    rows = STATES.rows(states, **stamps)
    token = token_of(STATES.name, store.replica, written_unix_nano)
    store.write(Batch(rows={STATES.name: rows}, token=token))


def states(store: Store, since: int) -> list[StoredState]:
    """The states of the series followed since a time (seconds). Raises StoreError."""
    return STATES.read(store, "drift_states", {"since": max(0, since)}, priority=Priority.TICK)


def visible_drops(store: Store, since: int) -> dict[Series, float]:
    """The smallest drop that each series followed since a time (seconds) would show, a share of 1.

    A series that would show none is missing. Kept for a while. Raises StoreError.
    """
    return store.kept.of(
        "visible drops",
        lambda: {each.series: each.numbers[-1] for each in states(store, since) if _sees(each)},
        lasts=True,
        new_seconds=TICK_SECONDS / 2,
    )


def _sees(state: StoredState) -> bool:
    # Numbers of an earlier form end with one that is never above 0.
    return bool(state.numbers) and state.numbers[-1] > 0


def histograms(
    store: Store, first: int, end: int, *, without: Collection[str], boosted: bool
) -> Histograms | None:
    """Scores from `first` until `end` of the rubrics but those `without`; None if there are none.

    With `boosted`, the scores of routes that are judged more for a while count, too. Raises
    StoreError.
    """
    import numpy as np

    window: dict[str, object] = {"first": first, "end": end, "bin": TICK_SECONDS}
    parts = [store.arrays("drift_histograms", window | {"without": sorted(without)})]
    if boosted:
        parts.append(store.arrays("drift_boosts", window))
    parts = [part for part in parts if part]
    if not parts:
        return None
    named = store.read("rollup_series", window, priority=Priority.TICK)
    columns = {
        name: np.concatenate([part[name] for part in parts])
        for name in ("series", "start", "place_of_value", "answers")
    }
    places = {int(row["id"]): place for place, row in enumerate(named)}
    ids, inverse = np.unique(columns["series"], return_inverse=True)
    index = np.array([places.get(int(each), -1) for each in ids], dtype=np.int64)[inverse]
    known = index >= 0
    return Histograms(
        series=tuple(_series(row) for row in named),
        index=index[known],
        start=columns["start"][known].astype(np.int64),
        value=columns["place_of_value"][known].astype(np.int64) - 1,
        scores=columns["answers"][known].astype(np.float64),
    )


def thumbs(store: Store, first: int, end: int) -> list[Mapping[str, Any]]:
    """Answers that users rated, by route and tick: `n`, and `total` of those rated badly."""
    window = {"first": first, "end": end, "bin": TICK_SECONDS}
    rows: Sequence[Mapping[str, Any]] = store.read("drift_thumbs", window, priority=Priority.TICK)
    return list(rows)


def _series(row: Mapping[str, Any]) -> Series:
    from ragvigil.model.score import Kind, Layer

    names = ("service", "environment", "route", "rubric", "segment")
    return Series(
        **{name: row[name] for name in names},
        layer=Layer(row["layer"]),
        kind=Kind(row["kind"]) if row["kind"] else None,
    )
