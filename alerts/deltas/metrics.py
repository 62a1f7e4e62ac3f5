"""The Prometheus metrics of scores: counters since the start, gauges of the newest deltas.

A mean that is unknown has no sample, rather than 0: no alert may fire because nobody asked
anything. Rows older than two ticks vanish. Labels never hold a trace or user id; routes are capped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Literal

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from alerts.deltas.pooling import pooled
from alerts.deltas.score_counts import LabelledCounts, ScoreCounts
from alerts.deltas.settings import LabelLimits
from alerts.deltas.windows import TICK_SECONDS
from ragvigil.model.delta import Delta, Moved
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from ragvigil.model.text import visible

OTHER = "__other__"
SERIES_LABELS = ("service", "environment", "route", "rubric", "layer", "kind")
"""Labels of every counter; gauges have the window, too."""
WINDOW_LABELS = (*SERIES_LABELS, "window")
STALE_SECONDS = 2 * TICK_SECONDS
"""Rows older than this vanish from the gauges."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A metric family as the exposition and the README name it."""

    name: str
    kind: Literal["counter", "gauge"]
    labels: tuple[str, ...]
    help: str


def _counter(name: str, text: str, *more: str) -> Family:
    return Family(name=name, kind="counter", labels=(*SERIES_LABELS, *more), help=text)


def _gauge(name: str, text: str) -> Family:
    return Family(name=name, kind="gauge", labels=WINDOW_LABELS, help=text)


SUM = _counter("ragvigil_score_sum_total", "Sum of scores; over the count it is the mean.")
COUNT = _counter("ragvigil_score_count_total", "Records that a rubric gave a value.")
FAILED = _counter("ragvigil_score_failed_total", "Records whose score fails its rubric.")
ABSENT = _counter(
    "ragvigil_score_absent_total",
    "Records that a rubric could not see: a field is not in the spans.",
)
LATE = Family(
    name="ragvigil_score_late_total",
    kind="counter",
    labels=(),
    help="Scores that came after their tick had closed; it is computed again.",
)
LABELS = _counter("ragvigil_score_labels_total", "Records by label of a rubric.", "label")

GAUGES: dict[Family, Callable[[Delta], float | None]] = {
    _gauge(
        "ragvigil_score_mean", "Mean score of the window; of a judged sample, that of all answers."
    ): lambda row: row.mean,
    _gauge(
        "ragvigil_score_plain_mean", "Mean of what was scored in the window, as it is."
    ): lambda row: row.plain_mean,
    _gauge(
        "ragvigil_score_judged_share", "Judged answers of the window over all of them, 0 to 1."
    ): lambda row: row.judged_share,
    _gauge(
        "ragvigil_score_baseline", "Mean of the same hours of the last 7 days, or of the past."
    ): lambda row: row.baseline,
    _gauge("ragvigil_score_delta", "Mean less baseline."): lambda row: row.delta,
    _gauge("ragvigil_score_delta_low", "Lower 95 % bound of the delta."): lambda row: row.low,
    _gauge("ragvigil_score_delta_high", "Upper 95 % bound of the delta."): lambda row: row.high,
    _gauge(
        "ragvigil_score_release_delta", "Mean less the mean of the pinned release."
    ): lambda row: row.release_delta,
    _gauge("ragvigil_score_records", "Scores in the window."): lambda row: row.n,
    _gauge(
        "ragvigil_score_coverage", "Scored records over those that the rubric applies to, 0 to 1."
    ): lambda row: row.coverage,
    _gauge(
        "ragvigil_score_detection_limit", "Drop that a window of this size can show."
    ): lambda row: row.detection_limit,
    _gauge(
        "ragvigil_score_sustained_drop", "1 while a drop lasts as long as the window (30m, 90m)."
    ): lambda row: float(row.sustained_drop) if row.window in ("30m", "90m") else None,
    _gauge(
        "ragvigil_score_moved", "-1 fell, 1 rose: the 6h delta lies wholly beyond 2 points."
    ): lambda row: (
        {Moved.FELL: -1.0, Moved.NO: 0.0, Moved.ROSE: 1.0}[row.moved]
        if row.window == "6h"
        else None
    ),
}

FAMILIES = (SUM, COUNT, FAILED, ABSENT, LABELS, LATE, *GAUGES)

Key = tuple[str, ...]


class RouteCap:
    """Gives the first `limit` routes label values of their own; further routes share one."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._routes: set[Key] = set()
        self._services: set[Key] = set()

    def labels(self, service: str, environment: str, route: str) -> Key:
        """Label values of service, environment and route."""
        key = (service, environment, route)
        if key not in self._routes:
            if len(self._routes) >= self._limit:
                # A further route keeps its service's name if that is known, so services never mix.
                is_known = (service, environment) in self._services
                return (service, environment, OTHER) if is_known else (OTHER, OTHER, OTHER)
            self._routes.add(key)
            self._services.add((service, environment))
        return key


class ScoreMetrics(Collector):
    """The collector to register in the core; other threads call `add` and `show`.

    `fails_below` holds the value of each rubric under which a record fails it; `clock` returns
    seconds since the epoch. The lock guards all counts: a scrape reads them while the pipeline and
    the job of the deltas write.
    """

    def __init__(
        self,
        settings: LabelLimits,
        fails_below: Mapping[str, float],
        clock: Callable[[], float],
    ) -> None:
        self._settings = settings
        self.fails_below = fails_below
        self._clock = clock
        self._cap = RouteCap(settings.max_routes)
        self._counts: dict[Family, dict[Key, float]] = {
            family: {} for family in (SUM, COUNT, FAILED, ABSENT, LABELS)
        }
        # A count that has been 0 is exposed: a rate needs the step from there.
        self._counts[LATE] = {(): 0.0}
        self._labels: dict[str, set[str]] = {}
        self._deltas: tuple[Delta, ...] = ()
        self._lock = Lock()

    def place(self, service: str, environment: str, route: str) -> Key:
        """Label values of a route within `max_routes`, for other metrics of the same routes."""
        with self._lock:
            return self._cap.labels(service, environment, route)

    def add(self, counts: ScoreCounts) -> None:
        """Adds sums of scores to the counters."""
        with self._lock:
            for (service, environment, route, rubric, *rest), counts_of in counts.series.items():
                place = self._cap.labels(service, environment, route)
                self._add_counted((*place, rubric, *rest), rubric, counts_of)

    def add_later(self, record: RagRecord, scores: Iterable[Score]) -> None:
        """Counts scores that a record got after it was stored."""
        counts = ScoreCounts(self.fails_below)
        counts.add(record, scores)
        self.add(counts)

    def show(self, deltas: Iterable[Delta], late: int = 0) -> None:
        """Replaces the rows that the gauges show by those of the newest tick.

        `late` are the scores that came since the last time, after their tick had closed.
        """
        rows = tuple(deltas)
        with self._lock:
            self._deltas = rows
            self._increase(LATE, (), late)

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        """Yields every family with its samples."""
        # Copies under the lock; the exposition, which is slower, is built outside it.
        with self._lock:
            counted = {family: dict(values) for family, values in self._counts.items()}
            rows = self._fresh()
        for family, values in counted.items():
            counter = CounterMetricFamily(family.name, family.help, labels=family.labels)
            for key, value in values.items():
                counter.add_metric([visible(text) for text in key], value)
            yield counter
        for family, read in GAUGES.items():
            gauge = GaugeMetricFamily(family.name, family.help, labels=family.labels)
            for key, row in rows.items():
                number = read(row)
                if number is not None:
                    gauge.add_metric([visible(text) for text in key], number)
            yield gauge

    def _add_counted(self, key: Key, rubric: str, counted: LabelledCounts) -> None:
        if counted.n:
            self._increase(SUM, key, counted.total)
            self._increase(COUNT, key, counted.n)
            self._increase(FAILED, key, counted.failed)
        if counted.absent:
            self._increase(ABSENT, key, counted.absent)
        for label, number in counted.labels.items():
            self._increase(LABELS, (*key, self._label(rubric, label)), number)

    def _increase(self, family: Family, key: Key, by: float) -> None:
        counts = self._counts[family]
        counts[key] = counts.get(key, 0.0) + by

    def _label(self, rubric: str, label: str) -> str:
        labels = self._labels.setdefault(rubric, set())
        # A label keeps its own value once it has one, so counters never change their labels.
        if len(labels) < self._settings.max_labels:
            labels.add(label)
        return label if label in labels else OTHER

    def _fresh(self) -> dict[Key, Delta]:
        oldest = self._clock() - STALE_SECONDS
        return pooled((row for row in self._deltas if row.tick >= oldest), self._place)

    def _place(self, row: Delta) -> Key:
        series = row.series
        place = self._cap.labels(series.service, series.environment, series.route)
        kind = series.kind.value if series.kind else ""
        return (*place, series.rubric, series.layer.value, kind, row.window)
