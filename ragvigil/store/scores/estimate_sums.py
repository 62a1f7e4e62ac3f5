"""Sums by five minutes that judged means are corrected by, and intervals clustered by question.

They are computed from scores and records by whole hours, and replaced; running it twice is safe.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from ragvigil.store.engine.errors import QueryFailed
from ragvigil.store.engine.priority import Priority
from ragvigil.store.records.same_question import SIGNS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragvigil.store.engine.store import Store

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

HOUR, BIN_SECONDS = 3600, 300
CHEAP = ""
"""The segment of the sums over the cheap scores of all answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedName:
    """The answers of one route by one rubric, judged by one version; `segment` may be CHEAP."""

    service: str
    environment: str
    route: str
    rubric: str
    layer: str
    segment: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BinSums:
    """Sums of bins: `start` (seconds) has the shape (bins,), `sums` (bins, measures)."""

    start: Ints
    sums: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateSums:
    """All that was summed in a range of time, by series and by (service, environment, route).

    The measures of `judged` are those of `alerts/deltas/two_phase.py`; those of `questions` are
    answers and their crowding.
    """

    judged: Mapping[JudgedName, BinSums]
    questions: Mapping[tuple[str, str, str], BinSums]


def changed_hours(store: Store, version: int) -> set[int]:
    """Hours (starts, seconds) whose roll-ups are newer than `version`. Raises StoreError."""
    rows = store.read("estimate_hours", {"version": version}, priority=Priority.TICK)
    return {int(row["hour"]) for row in rows}


def hours_without(store: Store, first: int) -> list[int]:
    """Hours since `first` (seconds) that were never summed, the newest first. Raises StoreError."""
    rows = store.read("estimate_hours_without", {"first": max(0, first)}, priority=Priority.TICK)
    return [int(row["hour"]) for row in rows]


def recompute(store: Store, hours: Iterable[int], written_unix_nano: int) -> None:
    """Sums the answers of these hours again. Raises StoreError."""
    for first, end in _ranges(hours):
        _sum(store, first, end, written_unix_nano)


def _ranges(hours: Iterable[int]) -> list[tuple[int, int]]:
    """Hours that follow one another, from the first until the end of the last."""
    found: list[tuple[int, int]] = []
    for hour in sorted(set(hours)):
        if found and found[-1][1] == hour:
            found[-1] = (found[-1][0], hour + HOUR)
        else:
            found.append((hour, hour + HOUR))
    return found


def _sum(store: Store, first: int, end: int, written_unix_nano: int) -> None:
    """Sums whole hours at once; by halves where they are more than a query may read."""
    parameters = {
        "first": first,
        "end": end,
        "written": written_unix_nano,
        "signs": SIGNS,
        "replica": store.replica,
        "epoch": store.epoch,
    }
    try:
        # Questions come last: an hour with them is complete (see `hours_without`).
        store.run("judged_sums_recompute", parameters)
        store.run("question_sums_recompute", parameters)
    except QueryFailed:
        if end - first == HOUR:
            raise
        middle = first + (end - first) // HOUR // 2 * HOUR
        _sum(store, first, middle, written_unix_nano)
        _sum(store, middle, end, written_unix_nano)


def read(store: Store, start: int, end: int) -> EstimateSums:
    """The sums of `start` until `end`, seconds since the epoch. Raises StoreError."""
    import numpy as np

    window = {"first": start, "end": end}
    columns = store.arrays("judged_sums", window)
    names = {
        int(row.pop("series")): JudgedName(**row)
        for row in store.read("judged_series", window, priority=Priority.TICK)
    }
    judged = {}
    if columns:
        ids, starts = columns.pop("series"), columns.pop("begins").astype(np.int64)
        sums = np.stack(list(columns.values()), axis=1)
        cuts = [0, *(np.flatnonzero(ids[1:] != ids[:-1]) + 1).tolist(), len(ids)]
        for first, last in pairwise(cuts):
            name = names.get(int(ids[first]))
            if name is not None:
                judged[name] = BinSums(start=starts[first:last], sums=sums[first:last])
    questions = {
        (row["service"], row["environment"], row["route"]): BinSums(
            start=np.array(row["starts"], dtype=np.int64),
            sums=np.array([row["answers"], row["crowding"]], dtype=np.float64).T,
        )
        for row in store.read("question_sums", window, priority=Priority.TICK)
    }
    return EstimateSums(judged=judged, questions=questions)
