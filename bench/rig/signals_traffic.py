"""Traffic of a service as sums by the minute: usual rates, levels that drift, and changes."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from math import pi

import numpy as np

from alerts.deltas.windows import Floats, Ints
from alerts.signals.catalogue import NUMBERS
from alerts.signals.minutes import HOUR, MINUTE, SignalMinutes
from ragvigil.model.delta import Series
from ragvigil.store.watch.signals import Sums

START = 1_767_225_600
ROUTES = 5
AN_HOUR = 400
DAY = 86_400
USUAL = {
    "retrieval_shape:empty": 0.02,
    "error": 0.01,
    "citation_validity:failed": 0.03,
    "refusal:refused": 0.05,
    "answer_complete_text:truncated": 0.01,
    "answer_complete_text:empty": 0.002,
    "injected_context:failed": 0.002,
    "answer_language:failed": 0.005,
    "context_relevance:none_relevant": 0.03,
    "seconds_total:slow": 0.01,
}
LEVELS = {
    "chunk_utilization": (0.45, 0.2),
    "citation_coverage": (0.7, 0.25),
    "citations": (2.4, 1.3),
    "answer_words": (4.6, 0.6),
    "context_tokens": (7.2, 0.4),
    "context_chunks": (4.8, 0.6),
    "context_order": (0.95, 0.1),
    "chunk_characters": (6.6, 0.3),
    "top_score": (0.78, 0.07),
    "score_gap": (0.15, 0.06),
    "groundedness": (0.85, 0.18),
    "context_relevance": (0.6, 0.22),
    "answer_relevance": (0.75, 0.18),
    "seconds_total": (0.9, 0.6),
    "cost_usd": (-5.5, 0.5),
}
"""Mean and standard deviation; of logarithms where a number is compared by them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """From `at` on (seconds): the rate to which a signal rises, or the share by which it shifts."""

    signal: str = ""
    at: int = 0
    by: float = 0.0
    routes: tuple[int, ...] = field(default=tuple(range(ROUTES)))


def stream(
    rng: np.random.Generator, seconds: int, change: Change, signals: Collection[str]
) -> Iterator[Sums]:
    """Sums per minute and series, a signal at a time."""
    times, routes = requests(rng, seconds)
    touched = np.isin(routes, change.routes) & (times >= change.at)
    hours = ((times - START) // HOUR).astype(np.int64)
    minute = (times // MINUTE * MINUTE).astype(np.int64)
    for signal, rate in USUAL.items():
        if signal not in signals:
            continue
        wave = np.exp(0.2 * rng.standard_normal(int(hours.max()) + 1))
        share = np.minimum(1, rate * wave[hours] * (0.7 + 0.15 * routes))
        if signal == change.signal:
            share = np.where(touched, change.by, share)
        values = (rng.random(len(times)) < share).astype(float)
        yield summed(series_of(signal, ROUTES), routes, minute, values)
    for signal, (mean, sd) in LEVELS.items():
        if signal not in signals:
            continue
        values = numbers(rng, mean, sd, hours, routes)
        if signal == change.signal:
            # By its own mean, so that a score near 1 can fall only.
            shift = np.log(1 + change.by) if NUMBERS[signal].is_logged else -change.by * mean
            values = values + touched * shift
        yield summed(series_of(signal, ROUTES), routes, minute, values)


def requests(rng: np.random.Generator, seconds: int) -> tuple[Floats, Ints]:
    """Times and routes; every route has a day of its own, so that the mix changes."""
    count = int(seconds / HOUR * AN_HOUR * 1.7)
    times = np.sort(START + rng.random(count) * seconds)
    routes = rng.integers(0, ROUTES, count)
    day = (times % DAY) / DAY
    kept = 1 + 0.7 * np.sin(2 * pi * (day - 0.3 - 0.06 * routes))
    is_kept = rng.random(count) < kept / 1.7
    return times[is_kept], routes[is_kept]


def numbers(rng: np.random.Generator, mean: float, sd: float, hours: Ints, routes: Ints) -> Floats:
    """Values around a level by route, with a wave over the day and a drift of single hours."""
    count = int(hours.max()) + 1
    shared = 0.05 * rng.standard_normal(count)
    own = 0.05 * rng.standard_normal((count, ROUTES))
    by_day = 0.08 * np.sin(2 * pi * hours / 24 + 1)
    level = 0.4 * (routes - 2) + shared[hours] + own[hours, routes] + by_day
    return np.asarray(mean + sd * (level + rng.standard_normal(len(hours))))


def series_of(signal: str, routes: int) -> tuple[Series, ...]:
    """The series of a signal, one for each of so many routes."""
    return tuple(
        Series(service="shop", environment="live", route=f"/r{route}", rubric=signal)
        for route in range(routes)
    )


def summed(series: tuple[Series, ...], routes: Ints, minute: Ints, values: Floats) -> Sums:
    """Sums of one signal by minute and route; `routes` are places in `series`."""
    keys, inverse = np.unique(minute * len(series) + routes, return_inverse=True)
    return Sums(
        series=series,
        index=keys % len(series),
        start=keys // len(series),
        n=np.bincount(inverse).astype(float),
        total=np.bincount(inverse, weights=values),
        squares=np.bincount(inverse, weights=values**2),
    )


class Replay:
    """Sums put into a table minute by minute."""

    def __init__(self, sums: list[Sums]) -> None:
        self.table = SignalMinutes()
        self._series = tuple(group for part in sums for group in part.series)
        first = np.cumsum([0, *(len(part.series) for part in sums)])
        order = np.argsort(np.concatenate([part.start for part in sums]), kind="stable")
        joined = [
            np.concatenate([part.index + base for part, base in zip(sums, first, strict=False)])
        ]
        joined += [
            np.concatenate([getattr(part, name) for part in sums])
            for name in ("start", "n", "total", "squares")
        ]
        self._index, self._start, *self._values = (columns[order] for columns in joined)

    def minute(self, minute: int) -> None:
        """Adds one minute."""
        self.table.advance(minute + MINUTE)
        self.table.put_minutes([self._between(minute, minute + MINUTE)], [minute])

    def past(self, end: int) -> None:
        """Adds everything before `end`, a full hour, at once."""
        self.table.advance(end)
        minutes = range(self.table.first_minute, end, MINUTE)
        hours = range(self.table.first_hour, self.table.first_minute, HOUR)
        self.table.put_hours([self._between(hours.start, hours.stop)], hours)
        self.table.put_minutes([self._between(minutes.start, end)], minutes)

    def _between(self, start: int, end: int) -> Sums:
        part = slice(*np.searchsorted(self._start, [start, end]))
        n, total, squares = (value[part] for value in self._values)
        return Sums(
            series=self._series,
            index=self._index[part],
            start=self._start[part],
            n=n,
            total=total,
            squares=squares,
        )
