"""Deltas as the API shows them: the newest tick of every series, or all ticks since a time."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from ragvigil.model.delta import BaselineKind, Delta, Estimate, Moved, Series
from ragvigil.model.figures import in_points
from ragvigil.model.score import Kind, Layer
from ragvigil.store.engine.kept import SLOW_SECONDS
from ragvigil.store.scores import rollups, rubric_deltas, verdicts
from ragvigil.store.watch.drift import visible_drops
from ragvigil.web.views.values import api_values, view

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragvigil.store.engine.store import Store

Number = float | None
HOUR = 3600
HOURS = 24
DELTAS_SECONDS = 15.0
"""How long the newest deltas pass for new: the next ones come with the next tick."""
FOLLOWED_SECONDS = 2 * 86_400
"""What was seen of a series this long ago is not said of it now."""
WINDOWS = ("15m", "30m", "90m", "6h", "24h")
_names = attrgetter("service", "environment", "route", "rubric", "layer", "segment")


class DeltaForm(BaseModel):
    """One series at one tick over one window; see the README of alerts for the terms."""

    service: str
    environment: str
    route: str
    rubric: str = Field(description="a rubric, or `rubric:label` for the rate of a label")
    layer: Layer
    segment: str = Field(description="versions of rubric and scorer")
    kind: Kind | None = Field(
        description="who scores it: a rubric may have a local and a judged row"
    )
    is_judged: bool | None = Field(
        default=None,
        description="whether a judge scores it, not code or a local model; null where unknown",
    )
    tick: datetime = Field(description="end of the window")
    closed: bool = Field(description="whether the tick no longer waits for late scores")
    window: str
    n: int
    n_effective: float
    failed: int
    coverage: Number
    mean: Number = Field(description="of a judged sample: that of all answers, see `estimate`")
    estimate: Estimate = Field(
        default=Estimate.PLAIN,
        description="empty: of all that was scored; `corrected`: weighted by the chance of being "
        "judged and corrected by local scores of all answers; `weighted`: without local scores; "
        "`too few`: the plain mean of the judged answers",
    )
    plain_mean: Number = Field(default=None, description="of what was scored, as it is")
    judged_share: Number = Field(
        default=None, description="judged answers over all; null if all are scored"
    )
    basis: str = Field(
        default="", description="in words: which share was judged, and how it stands for all"
    )
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
    visible_drop: Number = Field(
        default=None,
        description="the smallest drop that would page if it lasted a day; null where none would, "
        "and for past ticks",
    )
    sustained_drop: bool
    moved: Moved
    since: datetime | None = Field(description="start of the hour in which the movement began")
    hours: list[Number] = Field(
        default=[], description="hourly means of the 24 hours before the tick"
    )


class DeltasForm(BaseModel):
    """The newest tick of every series that matches, or all rows since a time."""

    deltas: list[DeltaForm]


def newest_deltas(
    store: Store, filter_: rubric_deltas.DeltaFilter, now: datetime, *, with_rates: bool = True
) -> list[DeltaForm]:
    """The newest tick of every series that matches, with the hourly means before it.

    Of a series without traffic, the last tick that is known. Rates of labels have their hours only
    with `with_rates`, which costs as much as all the others.
    """
    time = int(now.timestamp())
    present = sorted(rubric_deltas.latest(store, filter_, time), key=_order)
    hours = _hourly_means(store, time - time % HOUR + HOUR, with_rates) if present else {}
    judges = judge_segments(store, time) if present else frozenset()
    drops = followed_drops(store, time) if present else {}
    return [
        delta_form(
            delta,
            hours.get(delta.series, [None] * HOURS),
            judges,
            visible_drop=drops.get(delta.series),
        )
        for delta in present
    ]


def read_ahead(store: Store, now: int) -> None:
    """Reads what comparisons show of the last day (`now` in seconds), before anybody asks for it.

    So whoever is woken at night does not wait for it. Raises as `Store.read` does.
    """
    _hourly_means(store, now - now % HOUR + HOUR, with_rates=False)
    judge_segments(store, now)
    followed_drops(store, now)


def followed_drops(store: Store, now: int) -> dict[Series, float]:
    """The smallest lasting drop that each series would show, a share of 1; `now` in seconds."""
    return visible_drops(store, now - FOLLOWED_SECONDS)


def lasting_words(visible_drop: float | None) -> str:
    """The smallest lasting drop that would page; empty where that is not known, or none would.

    >>> lasting_words(0.041)
    'a lasting drop of 4 points would show'
    """
    return f"a lasting drop of {in_points(visible_drop)} would show" if visible_drop else ""


def deltas_since(store: Store, filter_: rubric_deltas.DeltaFilter) -> list[DeltaForm]:
    """All ticks that match, oldest first, without hourly means."""
    return [delta_form(delta, []) for delta in rubric_deltas.since(store, filter_)]


def judge_segments(store: Store, now: int) -> frozenset[tuple[str, str]]:
    """Rubric and segment of what judges scored in the day before `now` (seconds); kept."""
    return store.kept.of(
        "judges",
        lambda: frozenset(
            (judge.rubric, judge.segment) for judge in verdicts.judges(store, now - HOURS * HOUR)
        ),
        lasts=True,
        new_seconds=SLOW_SECONDS,
    )


def delta_form(
    delta: Delta,
    hours: list[float | None],
    judges: Collection[tuple[str, str]] | None = None,
    *,
    visible_drop: float | None = None,
) -> DeltaForm:
    """A delta as the API shows it: the fields of its series beside its own.

    `judges` are rubric and segment of what judges score, None where that is not known.
    """
    series = delta.series
    return view(
        DeltaForm,
        delta,
        **api_values(series),
        is_judged=_is_judged(series, judges),
        basis=delta.basis,
        visible_drop=visible_drop,
        tick=_time(delta.tick),
        since=_time(delta.since) if delta.since else None,
        hours=hours,
    )


def _is_judged(series: Series, judges: Collection[tuple[str, str]] | None) -> bool | None:
    if series.kind is not None:
        return series.kind is Kind.JUDGE
    return None if judges is None else (series.rubric.partition(":")[0], series.segment) in judges


def _time(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _order(delta: Delta) -> tuple[str | int, ...]:
    return (*_names(delta.series), WINDOWS.index(delta.window))


def _hourly_means(store: Store, end: int, with_rates: bool) -> dict[Series, list[Number]]:
    """Means of the 24 hours before `end`, of all series; kept, as pages repeat them."""
    key = ("hourly means", end, with_rates)
    return store.kept.of(
        key,
        lambda: _read_hourly_means(store, end, with_rates),
        lasts=True,
        new_seconds=SLOW_SECONDS,
    )


def _read_hourly_means(store: Store, end: int, with_rates: bool) -> dict[Series, list[Number]]:
    """Means of the 24 hours before `end`, of all series.

    The rate of a label is over the scores of an hour, or over all labels without scores: some
    rubrics give labels and no values.
    """
    import numpy as np

    start = end - HOURS * HOUR
    counts = rollups.counts(store, start, end, bin_seconds=HOUR, with_labels=with_rates)
    n, total, failed, labelled = (np.zeros((len(counts.series), HOURS)) for _ in range(4))
    cells = (counts.index, (counts.start - start) // HOUR)
    n[cells], total[cells], failed[cells] = counts.n, counts.total, counts.failed
    means: dict[Series, list[Number]] = {}
    for place, series in enumerate(counts.series):
        means[series] = _means(total[place], n[place])
        means[_rate(series, "failed")] = _means(failed[place], n[place])
    for row in counts.labels:
        labelled[row.index, (row.start - start) // HOUR] += row.records
    for row in counts.labels:
        records = np.full(HOURS, np.nan)
        records[(row.start - start) // HOUR] = row.records
        of = np.where(n[row.index] > 0, n[row.index], labelled[row.index])
        means[_rate(counts.series[row.index], row.label)] = _means(records, of)
    return means


def _rate(series: Series, label: str) -> Series:
    return replace(series, rubric=f"{series.rubric}:{label}")


def _means(totals: NDArray[Any], counts: NDArray[Any]) -> list[Number]:
    """The mean of each hour, None of no scores."""
    pairs = zip(totals.tolist(), counts.tolist(), strict=True)
    return [round(total / n, 4) if n and not math.isnan(total) else None for total, n in pairs]
