"""Deltas as the API shows them: the newest tick of every series, or all ticks since a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from ragvigil.model.delta import BaselineKind, Delta, Moved, Series
from ragvigil.model.score import Layer
from ragvigil.store.scores import rollups, rubric_deltas

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

Number = float | None
HOUR = 3600
HOURS = 24
LIVE_SECONDS = 600
"""A series whose newest tick is older than this is not live: its windows are shown as they were."""
WINDOWS = ("15m", "30m", "90m", "6h", "24h")


class DeltaForm(BaseModel):
    """One series at one tick over one window; see the README of alerts for the terms."""

    service: str
    environment: str
    route: str
    rubric: str = Field(description="a rubric, or `rubric:label` for the rate of a label")
    layer: Layer
    segment: str = Field(description="versions of rubric and scorer")
    tick: datetime = Field(description="end of the window")
    closed: bool = Field(description="whether the tick no longer waits for late scores")
    window: str
    n: int
    n_effective: float
    failed: int
    coverage: Number
    mean: Number
    baseline: Number
    baseline_kind: BaselineKind
    baseline_n: int
    delta: Number
    low: Number
    high: Number
    release_baseline: Number
    release_delta: Number
    release_low: Number
    release_high: Number
    overdispersion: float
    detection_limit: Number
    sustained_drop: bool
    moved: Moved
    since: datetime | None = Field(description="start of the hour in which the movement began")
    hours: list[Number] = Field(
        default=[], description="hourly means of the 24 hours before the tick"
    )


class DeltasForm(BaseModel):
    """The newest tick of every series that matches, or all ticks since a time."""

    deltas: list[DeltaForm]


def newest_deltas(
    store: Store, filter_: rubric_deltas.DeltaFilter, now: datetime
) -> list[DeltaForm]:
    """The newest tick of every series that matches, with the hourly means before it.

    Of a series without traffic, the last tick that is known.
    """
    time = int(now.timestamp())
    present = sorted(_present(_newest(store, filter_, time), time), key=_order)
    hours = _hourly_means(store, present, time) if present else {}
    return [delta_form(delta, hours.get(delta.series, [])) for delta in present]


def _newest(store: Store, filter_: rubric_deltas.DeltaFilter, now: int) -> list[Delta]:
    """Reads as few rows as possible: of 20 minutes, else of 25 hours, else all.

    A series with traffic in the last day has a row at the newest tick, its 24 h window; after a
    pause of the daemon only the day before has rows.
    """
    for since in (now - 2 * LIVE_SECONDS, now - 25 * HOUR, 0):
        deltas = rubric_deltas.newest(store, replace(filter_, since=max(0, since)))
        if deltas:
            return deltas
    return []


def deltas_since(store: Store, filter_: rubric_deltas.DeltaFilter) -> list[DeltaForm]:
    """All ticks that match, oldest first, without hourly means."""
    return [delta_form(delta, []) for delta in rubric_deltas.since(store, filter_)]


def delta_form(delta: Delta, hours: list[float | None]) -> DeltaForm:
    """A delta as the API shows it: the fields of its series beside its own."""
    values = {name: value for name, value in asdict(delta).items() if name != "series"}
    return DeltaForm.model_validate(
        values
        | asdict(delta.series)
        | {"tick": _time(delta.tick), "since": _time(delta.since) if delta.since else None}
        | {"hours": hours}
    )


def _time(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _order(delta: Delta) -> tuple[str | int, ...]:
    return (*asdict(delta.series).values(), WINDOWS.index(delta.window))


def _present(deltas: Iterable[Delta], now: int) -> Iterator[Delta]:
    """Rows of each live series' newest tick: a window that is empty by now has no row there.

    Of a series that is not live, the newest row of each window.
    """
    rows = list(deltas)
    newest: dict[Series, int] = {}
    for row in rows:
        newest[row.series] = max(row.tick, newest.get(row.series, 0))
    for row in rows:
        tick = newest[row.series]
        if row.tick == tick or tick < now - LIVE_SECONDS:
            yield row


def _hourly_means(
    store: Store, deltas: Iterable[Delta], now: int
) -> Mapping[Series, list[float | None]]:
    """Means of the last 24 hours, the running hour last, of the series of these deltas."""
    end = now - now % HOUR + HOUR
    start = end - HOURS * HOUR
    counts = rollups.counts(store, start, end, bin_seconds=HOUR)
    sums: dict[tuple[Series, int], tuple[float, float]] = {}
    for index, at, n, total, failed in zip(
        *(counts.index, counts.start, counts.n, counts.total, counts.failed), strict=True
    ):
        series = counts.series[index]
        hour = (int(at) - start) // HOUR
        sums[series, hour] = (float(n), float(total))
        sums[_rate(series, "failed"), hour] = (float(n), float(failed))
    _add_labels(counts, start, sums)
    return {
        series: [_mean(sums.get((series, hour))) for hour in range(HOURS)]
        for series in {delta.series for delta in deltas}
    }


def _add_labels(
    counts: rollups.SeriesCounts, start: int, sums: dict[tuple[Series, int], tuple[float, float]]
) -> None:
    """Adds the rates of labels: over the scores of an hour, or over all labels without scores.

    Some rubrics give labels and no values.
    """
    labelled: dict[tuple[Series, int], float] = {}
    cells = [
        (counts.series[row.index], row.label, (int(at) - start) // HOUR, float(records))
        for row in counts.labels
        for at, records in zip(row.start, row.records, strict=True)
    ]
    for series, _, hour, records in cells:
        labelled[series, hour] = labelled.get((series, hour), 0.0) + records
    for series, label, hour, records in cells:
        n = sums.get((series, hour), (0.0, 0.0))[0]
        sums[_rate(series, label), hour] = (n or labelled[series, hour], records)


def _rate(series: Series, label: str) -> Series:
    return replace(series, rubric=f"{series.rubric}:{label}")


def _mean(sums: tuple[float, float] | None) -> float | None:
    """The mean of a count and a total, None of no scores."""
    return round(sums[1] / sums[0], 4) if sums and sums[0] else None
