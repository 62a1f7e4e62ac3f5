"""The rate of a label is a mean like any other."""

from __future__ import annotations

import numpy as np

from alerts.deltas.rates import with_rates
from alerts.deltas.windows import Rollups, Sums
from tests.unit.alerts.score_streams import START, series

WANTED = ("refusal:refused", "*:failed")


def rollups(counts: list[list[float]], rubric: str) -> Rollups:
    """One series; a row per measure, a column per bin."""
    return Rollups(series=(series(rubric),), start=START, counts=np.array(counts)[:, :, None])


def means(found: Rollups) -> dict[str, float]:
    counts = Sums(found).between(np.array([0]), np.array([found.counts.shape[1]]))
    names = [series.rubric for series in found.series]
    return dict(zip(names, counts.mean()[0].round(6).tolist(), strict=True))


def test_a_label_rubric_without_values_has_a_rate_of_its_label() -> None:
    silent = rollups([[0.0, 0.0]] * 5, "refusal")
    labels = {(0, "refused"): np.array([1.0, 2.0]), (0, "answered"): np.array([9.0, 8.0])}
    found = with_rates(silent, labels, wanted=WANTED, failing=())
    assert means(found)["refusal:refused"] == 0.15
    assert found.counts[0, :, 1].tolist() == [10.0, 10.0]


def test_the_share_of_failing_records_stands_beside_the_mean() -> None:
    scored = rollups([[4.0], [3.0], [2.5], [1.0], [0.0]], "citation_validity")
    found = with_rates(scored, {}, wanted=WANTED, failing={"citation_validity"})
    assert means(found) == {"citation_validity": 0.75, "citation_validity:failed": 0.25}


def test_a_label_that_never_occurs_has_a_rate_of_zero() -> None:
    silent = rollups([[0.0]] * 5, "refusal")
    found = with_rates(silent, {(0, "answered"): np.array([5.0])}, wanted=WANTED, failing=())
    assert means(found)["refusal:refused"] == 0.0


def test_a_rubric_that_nobody_can_fail_has_no_share_of_failures() -> None:
    scored = rollups([[4.0], [3.0], [2.5], [0.0], [0.0]], "chunk_utilization")
    assert with_rates(scored, {}, wanted=WANTED, failing=()) is scored
