"""Metrics of judges. Without data there is no series."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from prometheus_client import Gauge

from scorers.calibration.measure import Measure
from scorers.calibration.status import JudgeState

KAPPA = Gauge(
    "ragvigil_judge_kappa",
    "Agreement of a judge with people beyond chance, -1 to 1; none where nothing is measured.",
    ["rubric", "judge"],
)
LABELS = Gauge(
    "ragvigil_judge_labels",
    "Labels of people that a judge is measured by, of the newest 200.",
    ["rubric", "judge"],
)
STATE = Gauge(
    "ragvigil_judge_state",
    "1 for the state of a judge, 0 for the others: unmeasured, trusted, retired.",
    ["rubric", "judge", "state"],
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSeries:
    """A judge as metrics name it: by its model and the version of its rubric."""

    rubric: str
    judge: str
    measure: Measure


def show(judges: Iterable[JudgeSeries]) -> None:
    """Replaces the exposed series by those of these judges; removes all others."""
    kappas: dict[tuple[str, ...], float] = {}
    counts: dict[tuple[str, ...], float] = {}
    states: dict[tuple[str, ...], float] = {}
    for series in judges:
        key = (series.rubric, series.judge)
        counts[key] = series.measure.kappa.n
        if series.measure.kappa.value is not None:
            kappas[key] = series.measure.kappa.value
        for state in JudgeState:
            states[*key, state.value] = float(state is series.measure.status.state)
    for gauge, values in ((KAPPA, kappas), (LABELS, counts), (STATE, states)):
        _replace(gauge, values)


def _replace(gauge: Gauge, values: dict[tuple[str, ...], float]) -> None:
    """Sets values first and removes old series last, so that no scrape finds an empty gauge."""
    for key, value in values.items():
        gauge.labels(*key).set(value)
    shown = {
        tuple(sample.labels.values()) for metric in gauge.collect() for sample in metric.samples
    }
    for key in shown - set(values):
        gauge.remove(*key)
