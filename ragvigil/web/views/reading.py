"""From rows of the store to the forms of the API."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ragvigil.model.delta import Delta, Series
from ragvigil.store.records.record_forms import time_of
from ragvigil.store.scores import rollups, rubric_deltas
from ragvigil.store.scores.labels import Label
from ragvigil.web.views.forms import DeltaForm, LabelForm

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

HOUR = 3600
HOURS = 24
LIVE_SECONDS = 600
"""A series whose newest tick is older than this has no present."""
WINDOWS = ("15m", "30m", "90m", "6h", "24h")


def newest_deltas(
    store: Store, wanted: rubric_deltas.DeltaFilter, now: datetime
) -> list[DeltaForm]:
    """The present of every series that matches, with the hourly means before it.

    Of a series without traffic, the last that is known.
    """
    time = int(now.timestamp())
    found = _newest(store, wanted, time)
    shown = sorted(_present(found, time), key=_order)
    hours = _hourly_means(store, shown, time) if shown else {}
    return [delta_form(one, hours.get(one.series, [])) for one in shown]


def _newest(store: Store, wanted: rubric_deltas.DeltaFilter, now: int) -> list[Delta]:
    """Rows no older than needed: a series with traffic in the last day has one at the newest
    tick, its 24 h window; after a pause of the daemon the day before has them."""
    for since in (now - 2 * LIVE_SECONDS, now - 25 * HOUR, 0):
        found = rubric_deltas.newest(store, replace(wanted, since=max(0, since)))
        if found:
            return found
    return []


def deltas_since(store: Store, wanted: rubric_deltas.DeltaFilter) -> list[DeltaForm]:
    """All ticks that match, oldest first."""
    return [delta_form(one, []) for one in rubric_deltas.since(store, wanted)]


def delta_form(one: Delta, hours: list[float | None]) -> DeltaForm:
    """A delta as the API shows it."""
    values = {name: value for name, value in asdict(one).items() if name != "series"}
    return DeltaForm.model_validate(
        values
        | asdict(one.series)
        | {"tick": _time(one.tick), "since": _time(one.since) if one.since else None}
        | {"hours": hours}
    )


def label_form(one: Label) -> LabelForm:
    """A label as the API shows it."""
    values = asdict(one)
    return LabelForm(
        id=values.pop("label_id"), time=time_of(values.pop("time_unix_nano")), **values
    )


def _time(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _order(one: Delta) -> tuple[str | int, ...]:
    series = one.series
    return (*asdict(series).values(), WINDOWS.index(one.window))


def _present(found: Iterable[Delta], now: int) -> Iterator[Delta]:
    """Rows of each live series' newest tick: a window that is empty by now has no row."""
    rows = list(found)
    newest: dict[Series, int] = {}
    for one in rows:
        newest[one.series] = max(one.tick, newest.get(one.series, 0))
    for one in rows:
        tick = newest[one.series]
        if one.tick == tick or tick < now - LIVE_SECONDS:
            yield one


def _hourly_means(
    store: Store, shown: Iterable[Delta], now: int
) -> Mapping[Series, list[float | None]]:
    """Means of the last 24 hours, the running one last, of every series that is shown."""
    end = now - now % HOUR + HOUR
    start = end - HOURS * HOUR
    counted = rollups.counts(store, start, end, bin_seconds=HOUR)
    sums: dict[tuple[Series, int], tuple[float, float]] = {}
    for index, at, n, total, failed in zip(
        *(counted.index, counted.start, counted.n, counted.total, counted.failed), strict=True
    ):
        series = counted.series[index]
        place = (int(at) - start) // HOUR
        sums[series, place] = (float(n), float(total))
        sums[_rate(series, "failed"), place] = (float(n), float(failed))
    _add_labels(counted, start, sums)
    return {
        one: [_mean(sums.get((one, place))) for place in range(HOURS)]
        for one in {row.series for row in shown}
    }


def _add_labels(
    counted: rollups.SeriesCounts, start: int, sums: dict[tuple[Series, int], tuple[float, float]]
) -> None:
    """Rates of labels: over the scores, or over all labels of a rubric that gives no values."""
    spoken: dict[tuple[Series, int], float] = {}
    cells = [
        (counted.series[one.index], one.label, (int(at) - start) // HOUR, float(records))
        for one in counted.labels
        for at, records in zip(one.start, one.records, strict=True)
    ]
    for series, _, place, records in cells:
        spoken[series, place] = spoken.get((series, place), 0.0) + records
    for series, label, place, records in cells:
        n = sums.get((series, place), (0.0, 0.0))[0]
        sums[_rate(series, label), place] = (n or spoken[series, place], records)


def _rate(series: Series, label: str) -> Series:
    return replace(series, rubric=f"{series.rubric}:{label}")


def _mean(counts: tuple[float, float] | None) -> float | None:
    return round(counts[1] / counts[0], 4) if counts and counts[0] else None
