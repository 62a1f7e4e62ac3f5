"""The metrics of judges."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from prometheus_client import REGISTRY

from scorers.calibration.kappa import Kappa
from scorers.calibration.measure import Measure, Scale
from scorers.calibration.metrics import JudgeSeries, show
from scorers.calibration.status import status_of


def judge(rubric: str, kappa: Kappa) -> JudgeSeries:
    measure = Measure(
        scale=Scale.PASS_FAIL,
        kappa=kappa,
        agreement=None,
        status=status_of(kappa),
        level=None,
    )
    return JudgeSeries(rubric=rubric, judge="m v1", measure=measure)


def value(name: str, rubric: str, **labels: str) -> float | None:
    return REGISTRY.get_sample_value(
        f"ragvigil_judge_{name}", {"rubric": rubric, "judge": "m v1", **labels}
    )


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    yield
    show([])


def test_what_is_not_measured_has_no_kappa_and_not_a_zero() -> None:
    show([judge("completeness", Kappa(n=0))])
    assert value("kappa", "completeness") is None
    assert value("labels", "completeness") == 0
    assert value("state", "completeness", state="unmeasured") == 1
    assert value("state", "completeness", state="retired") == 0


def test_a_state_changes_and_a_judge_that_is_gone_disappears() -> None:
    bad = Kappa(n=200, value=0.4, low=0.3, high=0.5)
    show([judge("completeness", Kappa(n=3)), judge("groundedness", bad)])
    assert value("kappa", "groundedness") == 0.4
    assert value("state", "groundedness", state="retired") == 1
    show([judge("completeness", bad)])
    assert value("state", "completeness", state="unmeasured") == 0
    assert value("state", "completeness", state="retired") == 1
    for name, labels in (("kappa", {}), ("labels", {}), ("state", {"state": "retired"})):
        assert value(name, "groundedness", **labels) is None
