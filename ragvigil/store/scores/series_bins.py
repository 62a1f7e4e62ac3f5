"""Sums of single series over bins of time, from the roll-ups: what a chart is drawn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragvigil.model.delta import Series
from ragvigil.model.score import Layer

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

DAY = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesFilter:
    """Which series; an empty name is all of them, and so is no rubric.

    `route` is None for all routes: the empty route is that of answers without one.
    """

    service: str = ""
    environment: str = ""
    route: str | None = None
    rubrics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Scores of one bin: `start` in seconds since the epoch, `total` and `squares` of `n` values.

    `labels` counts records by label; empty unless they were asked for.
    """

    start: int
    n: int
    total: float
    squares: float
    failed: int
    labels: Mapping[str, int] = field(default_factory=dict)


def read(
    store: Store,
    filter_: SeriesFilter,
    first: int,
    end: int,
    *,
    bin_seconds: int,
    day_seconds: int = DAY,
    with_labels: bool = False,
) -> dict[Series, Sequence[Bin]]:
    """Bins of every series that matches, oldest first; a bin without records is left out.

    `first` and `end` are in seconds since the epoch. Of each day after `first`, its first
    `day_seconds` are read. Raises as `Store.read` does.
    """
    parameters = {
        "service": filter_.service,
        "environment": filter_.environment,
        "route": filter_.route or "",
        "rubrics": sorted(filter_.rubrics),
        "first": first,
        "end": end,
        "bin": bin_seconds,
        "day_seconds": day_seconds,
        "with_labels": int(with_labels),
    }
    name = "series_bins" if filter_.route is None else "series_bins_of_route"
    bins: dict[Series, list[Bin]] = {}
    for row in store.read(name, parameters):
        bins.setdefault(_series(row), []).append(_bin(row))
    return dict(bins)


def _series(row: Mapping[str, Any]) -> Series:
    names = ("service", "environment", "route", "rubric", "segment")
    return Series(**{name: row[name] for name in names}, layer=Layer(row["layer"]))


def _bin(row: Mapping[str, Any]) -> Bin:
    return Bin(
        start=int(row["start"]),
        n=int(row["n"]),
        total=float(row["total"]),
        squares=float(row["squares"]),
        failed=int(row["failed"]),
        labels=row["labels"],
    )
