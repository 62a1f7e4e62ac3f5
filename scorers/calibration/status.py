"""The status of a judge: unmeasured, trusted or retired, and why in words. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from scorers.calibration.kappa import Kappa

LEAST_LABELS = 30
"""Least labels for a status other than *unmeasured*."""
ROLLING_LABELS = 200
"""Newest labels that count: near the bar, 30 to 50 decide no better than a coin."""
BAR = 0.7
"""Least kappa of a trusted judge (see `kappa.py`)."""


class JudgeState(StrEnum):
    """Whether the scores of a judge may page."""

    UNMEASURED = "unmeasured"
    """Too few labels: it pages, marked as unmeasured."""
    TRUSTED = "trusted"
    RETIRED = "retired"
    """Labels prove its kappa under the bar: it does not page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeStatus:
    """The state of a judge, and the sentence that says why."""

    state: JudgeState
    reason: str


def status_of(kappa: Kappa) -> JudgeStatus:
    """The status of a judge with this agreement with people's labels.

    >>> print(status_of(Kappa(n=200, value=0.52, low=0.4, high=0.63)).reason)
    kappa 0.52 (0.40 to 0.63) on 200 labels: the whole interval lies under 0.7
    """
    if kappa.n < LEAST_LABELS:
        more = LEAST_LABELS - kappa.n
        return _unmeasured(f"{_labels(kappa.n)}; {more} more are needed to measure the judge")
    if kappa.value is None:
        same = "labels and judge said one and the same of every record"
        return _unmeasured(f"{_labels(kappa.n)}, but {same}: label some that fail, some that pass")
    if kappa.low is None or kappa.high is None:
        return _unmeasured(
            f"kappa {kappa.value:.2f} on {_labels(kappa.n)}, nearly all of one kind: "
            "no interval can be given"
        )
    finding = f"kappa {kappa.value:.2f} ({kappa.low:.2f} to {kappa.high:.2f}) on {_labels(kappa.n)}"
    if kappa.high < BAR:
        reason = f"{finding}: the whole interval lies under {BAR}"
        return JudgeStatus(state=JudgeState.RETIRED, reason=reason)
    if kappa.value < BAR:
        return _trusted(
            f"{finding}: under {BAR}, but chance may explain that; more labels will tell"
        )
    return _trusted(finding)


def _labels(n: int) -> str:
    return f"{n} label" if n == 1 else f"{n} labels"


def _unmeasured(reason: str) -> JudgeStatus:
    return JudgeStatus(state=JudgeState.UNMEASURED, reason=reason)


def _trusted(reason: str) -> JudgeStatus:
    return JudgeStatus(state=JudgeState.TRUSTED, reason=reason)
