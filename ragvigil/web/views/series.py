"""Rubrics over time, from the roll-ups: what every chart shows, and what `/api/v1/series` says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from ragvigil.model.delta import TICK_SECONDS, Delta, Moved, Series, judged_first
from ragvigil.model.score import Layer
from ragvigil.store.scores import rubric_deltas, series_bins
from ragvigil.store.scores.rubric_deltas import DeltaFilter
from ragvigil.store.scores.series_bins import Bin, SeriesFilter
from ragvigil.web.views.changes import ChangeForm, changes_of
from ragvigil.web.views.deltas import DeltaForm, delta_form, followed_drops
from ragvigil.web.views.series_points import (
    DAY,
    HOUR,
    PAST_DAYS,
    Sums,
    bin_for,
    gathered,
    usual_ranges,
    widened,
)
from ragvigil.web.views.values import view

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

FAILED = "failed"
WINDOW = "6h"
"""The delta beside a chart: the window that says whether a series moved."""


class PointForm(BaseModel):
    """The mean of the scores of a bin; only bins with scores have a point."""

    start: datetime
    mean: float
    low: float = Field(description="of the mean's 95 % interval")
    high: float
    n: int
    usual_low: float | None = Field(
        description="where such a mean lies at these hours, by the seven days before; null unless "
        "three of them have scores"
    )
    usual_high: float | None


class SeriesForm(BaseModel):
    """One series over time, with its newest comparison with its past."""

    service: str
    environment: str
    route: str
    rubric: str = Field(description="a rubric, or `rubric:label` for the share with a label")
    layer: Layer
    segment: str = Field(description="versions of rubric and scorer")
    bin_seconds: int
    points: list[PointForm] = Field(description="oldest first; the window may cut the outer ones")
    delta: DeltaForm | None = Field(
        description="the newest 6h comparison until the end of the window; null where there is none"
    )

    @property
    def onset(self) -> datetime | None:
        """Start of the hour in which it moved; None where it has not, or it is not known."""
        return self.delta.since if self.delta and self.delta.moved is not Moved.NO else None

    @property
    def visible_drop(self) -> float | None:
        """The smallest drop that the traffic of the delta's window can show."""
        return self.delta.detection_limit if self.delta else None


class SeriesListForm(BaseModel):
    """Series of a window, and what changed meanwhile."""

    since: datetime
    until: datetime
    series: list[SeriesForm] = Field(description="by service, environment, route, layer and rubric")
    local: list[DeltaForm] = Field(
        default=[],
        description="what local scorers say of rubrics that a judge scores here, of every answer",
    )
    rates: list[DeltaForm] = Field(
        description="the newest 6h comparison of the shares of labels, in the same order"
    )
    changes: list[ChangeForm] = Field(description="newest first")


def charts_of(
    store: Store, filter_: SeriesFilter, begin: datetime, end: datetime
) -> SeriesListForm:
    """The series that match, the shares of labels, and the changes of their place."""
    rows = _newest_rows(store, filter_, int(end.timestamp()))
    every = _delta_forms(store, rows, int(end.timestamp()))
    deltas = {row.series: every[row.series] for row in judged_first(rows)}
    return SeriesListForm(
        since=begin,
        until=end,
        series=_series(store, filter_, begin, end, deltas),
        local=[
            delta
            for series, delta in sorted(every.items(), key=_order)
            if series not in deltas and ":" not in series.rubric
        ],
        rates=[
            delta for series, delta in sorted(deltas.items(), key=_order) if ":" in series.rubric
        ],
        changes=changes_of(
            store,
            service=filter_.service,
            environment=filter_.environment,
            route=filter_.route,
            begin=int(begin.timestamp()),
            end=int(end.timestamp()) + 1,
        ),
    )


def series_of(
    store: Store,
    filter_: SeriesFilter,
    begin: datetime,
    end: datetime,
) -> list[SeriesForm]:
    """The series that match, from `begin` until `end`, in bins that fit the window and its traffic.

    `rubrics` of the filter may name shares of labels, like `groundedness:failed`. Three reads of
    the store, however many series there are.
    """
    now = int(end.timestamp())
    rows = judged_first(_newest_rows(store, filter_, now))
    return _series(store, filter_, begin, end, _delta_forms(store, rows, now))


def lines_of(
    store: Store, filter_: SeriesFilter, begin: datetime, end: datetime
) -> list[SeriesForm]:
    """The same without their comparison with the past, in two reads."""
    return _series(store, filter_, begin, end, {})


def _series(
    store: Store,
    filter_: SeriesFilter,
    begin: datetime,
    end: datetime,
    deltas: Mapping[Series, DeltaForm],
) -> list[SeriesForm]:
    first, last = int(begin.timestamp()), int(end.timestamp())
    length = bin_for(last - first)
    first -= first % length
    wanted = filter_.rubrics
    base = replace(filter_, rubrics=tuple({name.partition(":")[0] for name in wanted}))
    has_labels = any(":" in name and not name.endswith(f":{FAILED}") for name in wanted)
    bins = _sums(
        series_bins.read(store, base, first, last, bin_seconds=length, with_labels=has_labels),
        wanted,
    )
    unit = max(HOUR, length)
    past = _past(store, base, wanted, (first, last), unit, has_labels)
    return [
        view(
            SeriesForm,
            series,
            bin_seconds=(fitting := widened(sums, last - first, length)),
            points=_points(gathered(sums, fitting), past.get(series, {}), fitting, unit),
            delta=deltas.get(series),
        )
        for series, sums in sorted(bins.items(), key=_order)
    ]


def newest_segments(series: Iterable[SeriesForm]) -> list[SeriesForm]:
    """One series of each rubric and place: the versions of rubric and scorer scored last.

    Scores of other versions are not comparable with it.
    """
    newest: dict[tuple[str, ...], SeriesForm] = {}
    for each in series:
        key = (each.service, each.environment, each.route, each.rubric)
        if key not in newest or _last(newest[key]) < _last(each):
            newest[key] = each
    return list(newest.values())


def _last(series: SeriesForm) -> tuple[datetime, int]:
    if not series.points:
        return datetime.fromtimestamp(0, UTC), 0
    return series.points[-1].start, series.points[-1].n


def _order(item: tuple[Series, object]) -> tuple[str, ...]:
    series = item[0]
    return (
        series.service, series.environment, series.route, series.layer, series.rubric,
        series.segment,
    )  # fmt: skip


def _past(
    store: Store,
    base: SeriesFilter,
    wanted: Sequence[str],
    window: tuple[int, int],
    unit: int,
    has_labels: bool,
) -> dict[Series, dict[int, Sums]]:
    """The same hours of the days before a window, in bins of `unit` seconds."""
    first, last = window[0] - window[0] % unit, window[1] + -window[1] % unit
    bins = series_bins.read(
        store,
        base,
        first - PAST_DAYS * DAY,
        max(last - DAY, first),
        bin_seconds=unit,
        day_seconds=min(DAY, last - first),
        with_labels=has_labels,
    )
    return _sums(bins, wanted)


def _sums(
    bins: Mapping[Series, Sequence[Bin]], wanted: Sequence[str]
) -> dict[Series, dict[int, Sums]]:
    """Sums by series and start of bin: of the values, or of a label's zeros and ones."""
    sums: dict[Series, dict[int, Sums]] = {}
    for series, of_series in bins.items():
        names = [name for name in wanted if name.partition(":")[0] == series.rubric]
        has_values = any(each.n for each in of_series)
        for name in names or [series.rubric]:
            label = name.partition(":")[2]
            by_start = {each.start: _of(each, label, has_values) for each in of_series}
            present = {start: each for start, each in by_start.items() if each.n}
            if present:
                sums[replace(series, rubric=name)] = present
    return sums


def _of(bin_: Bin, label: str, has_values: bool) -> Sums:
    if not label:
        return Sums(n=bin_.n, total=bin_.total, squares=bin_.squares)
    hits = bin_.failed if label == FAILED else bin_.labels.get(label, 0)
    # As the deltas count: some rubrics give labels and no values.
    n = bin_.n if has_values else sum(bin_.labels.values())
    return Sums(n=n, total=hits, squares=hits)


def _points(
    bins: Mapping[int, Sums], past: Mapping[int, Sums], length: int, unit: int
) -> list[PointForm]:
    usual = usual_ranges(bins, past, length, unit)
    points = []
    for start, sums in sorted(bins.items()):
        interval = sums.interval()
        assert interval is not None
        assert sums.mean is not None
        usual_low, usual_high = usual.get(start, (None, None))
        points.append(
            PointForm(
                start=datetime.fromtimestamp(start, UTC),
                mean=sums.mean,
                low=interval[0],
                high=interval[1],
                n=sums.n,
                usual_low=usual_low,
                usual_high=usual_high,
            )
        )
    return points


def _newest_rows(store: Store, filter_: SeriesFilter, now: int) -> list[Delta]:
    place = DeltaFilter(
        service=filter_.service,
        environment=filter_.environment,
        route=filter_.route or "",
        window=WINDOW,
        until=now + TICK_SECONDS,
    )
    return [
        row
        for row in rubric_deltas.latest(store, place, now)
        if filter_.route in (None, row.series.route)
        and (not filter_.rubrics or row.series.rubric in filter_.rubrics)
    ]


def _delta_forms(store: Store, rows: Iterable[Delta], now: int) -> dict[Series, DeltaForm]:
    drops = followed_drops(store, now)
    return {row.series: delta_form(row, [], visible_drop=drops.get(row.series)) for row in rows}
