"""Whether a judge is to be believed: unmeasured, trusted, retired, and why in words. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from scorers.calibration.kappa import Kappa

LEAST_LABELS = 30
ROLLING_LABELS = 200
"""Labels that are pooled, the newest: 30 to 50 are a coin flip near the bar."""
BAR = 0.7


class JudgeState(StrEnum):
    """What becomes of the series of a judge."""

    UNMEASURED = "unmeasured"
    """Too few labels: it works and pages, marked."""
    TRUSTED = "trusted"
    RETIRED = "retired"
    """Labels show that its kappa is under the bar: it does not page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeStatus:
    """A state and the sentence that says why."""

    state: JudgeState
    reason: str


def status_of(kappa: Kappa) -> JudgeStatus:
    """The state that this agreement with people's labels gives.

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
