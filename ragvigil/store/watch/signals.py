"""Input of the signals: sums per series and bin, counted per minute and replica."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragvigil.model.delta import Series
from ragvigil.model.signal import ERROR, SLOW, SignalChoice
from ragvigil.store.engine.priority import Priority
from ragvigil.store.records.same_question import SIGNS
from ragvigil.store.watch.minute_counts import Counted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragvigil.store.engine.store import Store

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

MINUTE = 60
SIGNAL_MINUTES = "signal_minutes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Sums per series and bin, a row each: `index` is a position in `series`, `start` in seconds.

    The rubric of a series is its signal.
    """

    series: tuple[Series, ...]
    index: Ints
    start: Ints
    n: Floats
    total: Floats
    squares: Floats


def counted(choice: SignalChoice) -> Counted:
    """The sums of these signals per minute and replica."""
    return Counted(
        table=SIGNAL_MINUTES,
        statement="signal_count",
        at_once=7200,
        parameters=_parameters(choice),
    )


def sums(
    store: Store,
    start: int,
    end: int,
    *,
    minutes: Iterable[int] = (),
    bin_seconds: int = MINUTE,
) -> list[Sums]:
    """Counted sums of all replicas from `start` until `end`, or only of `minutes` if any are given.

    Raises StoreError.
    """
    parameters = {"first": start, "end": end, "bin": bin_seconds, "minutes": list(minutes)}
    columns = store.arrays("signal_sums", parameters)
    return [_sums(columns)] if columns else []


def rates(
    store: Store, rates: Sequence[str], start: int, end: int, *, bin_seconds: int
) -> list[Sums]:
    """Sums of rates (`error`, `rubric:label`, `rubric:failed`) of the records and their roll-ups.

    They reach back further than what is counted. Raises StoreError.
    """
    window = {"first": start, "end": end, "bin": bin_seconds, "minutes": []}
    of_scores = [rate for rate in rates if rate != ERROR]
    spoken = sorted({rate.partition(":")[0] for rate in of_scores})
    read = [
        store.arrays(
            "signal_rates", {**window, "rates": of_scores, "spoken": spoken, "signs": SIGNS}
        )
    ]
    if ERROR in rates:
        read.append(store.arrays("signal_errors", window))
    return [_sums(columns) for columns in read if columns]


def first_minute(store: Store, *, service: str, environment: str) -> float:
    """The first minute (seconds) with answers of a service; infinity without. Raises StoreError."""
    place = {"service": service, "environment": environment}
    rows = store.read("signal_first", place, priority=Priority.TICK)
    return rows[0]["seconds"] if rows else math.inf


def traces(
    store: Store,
    signal: str,
    *,
    service: str,
    environment: str,
    routes: Sequence[str],
    start: int,
    end: int,
    measures: Sequence[str],
    falls: bool = True,
) -> tuple[str, ...]:
    """Up to five trace ids that show a signal between two times (seconds). Raises StoreError.

    For a rate the newest that count in it; for a number the lowest if it `falls`, else the highest.
    """
    place: dict[str, Any] = {
        "first": start,
        "end": end,
        "service": service,
        "environment": environment,
        "routes": list(routes),
        "direction": -1 if falls else 1,
    }
    rubric, _, label = signal.partition(":")
    if signal == ERROR:
        name = "signal_error_traces"
    elif signal == SLOW or signal in measures:
        name, place = "signal_measure_traces", place | {"measure": rubric}
    else:
        name, place = "signal_score_traces", place | {"rubric": rubric, "label": label}
    rows = store.read(name, place, priority=Priority.TICK)
    return tuple(dict.fromkeys(str(row["trace_id"]) for row in rows))


def _parameters(choice: SignalChoice) -> dict[str, Any]:
    rates = (*choice.rates, *choice.local_rates)
    named = (*rates, *choice.rubrics, *choice.local)
    spoken = {name.partition(":")[0] for name in named}
    return {
        "rates": list(choice.rates),
        "rubrics": list(choice.rubrics),
        "spoken": sorted(spoken),
        "local": list(choice.local),
        "local_rates": list(choice.local_rates),
        "measures": list(choice.measures),
        "logged": list(choice.logged),
        "slow": choice.slow_seconds,
        "slow_routes": list(choice.slow_routes),
        "slow_seconds": list(choice.slow_routes.values()),
        "signs": SIGNS,
    }


def _sums(columns: Mapping[str, NDArray[Any]]) -> Sums:
    import numpy as np

    _, first, index = np.unique(columns["series"], return_index=True, return_inverse=True)
    return Sums(
        series=tuple(_series(columns, row) for row in first),
        index=index.astype(np.int64),
        start=columns["start"].astype(np.int64),
        **{name: columns[name].astype(np.float64) for name in ("n", "total", "squares")},
    )


def _series(columns: Mapping[str, NDArray[Any]], row: int) -> Series:
    names = (str(columns[name][row]) for name in ("service", "environment", "route"))
    service, environment, route = names
    return Series(
        service=service,
        environment=environment,
        route=route,
        rubric=str(columns["signal"][row]),
        segment=str(columns["segment"][row]),
    )
