"""Prometheus metrics of golden cases that passed. No label is a case's id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from prometheus_client import Gauge

from clustering.golden.standing import Standing
from ragvigil.model.golden import GoldenCase

FAILING_AGAIN = Gauge(
    "ragvigil_golden_failing_again",
    "Golden cases that passed and fail again.",
    ["service", "environment"],
)
FLAKY = Gauge(
    "ragvigil_golden_flaky",
    "Golden cases that passed and fail now and then.",
    ["service", "environment"],
)
SHOWN = {Standing.FAILS_AGAIN: FAILING_AGAIN, Standing.FLAKY: FLAKY}


def show(cases: Iterable[tuple[GoldenCase, Standing]]) -> None:
    """Sets the gauges of each place to the cases of each standing, 0 where none is any more."""
    counts: Counter[tuple[str, str, Standing]] = Counter()
    places = {
        (sample.labels["service"], sample.labels["environment"])
        for family in FAILING_AGAIN.collect()
        for sample in family.samples
    }
    for case, standing in cases:
        places.add((case.service, case.environment))
        counts[case.service, case.environment, standing] += 1
    for service, environment in places:
        for standing, gauge in SHOWN.items():
            gauge.labels(service, environment).set(counts[service, environment, standing])
