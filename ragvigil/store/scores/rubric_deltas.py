"""The table `rubric_deltas`: a row per series, tick and window; computed again, it is replaced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ragvigil.model.delta import BaselineKind, Delta, Moved, Series
from ragvigil.model.score import Layer
from ragvigil.store.engine.batch import Batch, Row, token_of
from ragvigil.store.engine.priority import Priority

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

NUMBERS = (
    "n",
    "n_effective",
    "failed",
    "coverage",
    "mean",
    "baseline",
    "baseline_n",
    "delta",
    "low",
    "high",
    "release_baseline",
    "release_delta",
    "release_low",
    "release_high",
    "overdispersion",
    "detection_limit",
    "since",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaFilter:
    """Which deltas; an empty filter is none. `since` is in seconds since the epoch."""

    service: str = ""
    environment: str = ""
    route: str = ""
    rubric: str = ""
    layer: str = ""
    window: str = ""
    since: int = 0
    limit: int = 10_000


def batch(
    deltas: Iterable[Delta], computed_unix_nano: int, *, replica: str = "", epoch: int = 0
) -> Batch:
    """A batch that stores these deltas in place of those computed earlier."""
    rows = [_row(one, computed_unix_nano, replica, epoch) for one in deltas]
    return Batch(
        rows={"rubric_deltas": rows}, token=token_of("deltas", computed_unix_nano, len(rows))
    )


def newest(store: Store, wanted: DeltaFilter, *, priority: Priority = Priority.PAGE) -> list[Delta]:
    """The newest tick since `wanted.since` of every series and window that matches."""
    rows = store.read("deltas_newest", asdict(wanted), priority=priority)
    return [_delta(row) for row in rows]


def since(store: Store, wanted: DeltaFilter) -> list[Delta]:
    """All ticks since `wanted.since` that match, oldest first."""
    return [_delta(row) for row in store.read("deltas_since", asdict(wanted))]


def closed_until(store: Store) -> int | None:
    """The newest closed tick that is stored, seconds since the epoch; None where there is none."""
    row = store.read("deltas_closed_until", priority=Priority.TICK)[0]
    return int(row["tick"]) if row["rows"] else None


def _row(one: Delta, computed: int, replica: str, epoch: int) -> Row:
    series = one.series
    return (
        one.tick,
        series.service,
        series.environment,
        series.route,
        series.rubric,
        series.layer.value,
        series.segment,
        one.window,
        computed,
        int(one.closed),
        one.n,
        one.n_effective,
        one.failed,
        one.coverage,
        one.mean,
        one.baseline,
        one.baseline_kind.value,
        one.baseline_n,
        one.delta,
        one.low,
        one.high,
        one.release_baseline,
        one.release_delta,
        one.release_low,
        one.release_high,
        one.overdispersion,
        one.detection_limit,
        int(one.sustained_drop),
        one.moved.value,
        one.since,
        replica,
        epoch,
    )


def _delta(row: Mapping[str, Any]) -> Delta:
    return Delta(
        series=Series(
            service=row["service"],
            environment=row["environment"],
            route=row["route"],
            rubric=row["rubric"],
            layer=Layer(row["layer"]),
            segment=row["segment"],
        ),
        tick=int(row["tick_seconds"]),
        window=row["window"],
        closed=bool(row["closed"]),
        baseline_kind=BaselineKind(row["baseline_kind"]),
        sustained_drop=bool(row["sustained_drop"]),
        moved=Moved(row["moved"]),
        **{name: row[name] for name in NUMBERS},
    )
