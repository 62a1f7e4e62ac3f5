"""What a sustained drop says, and which of them page."""

from __future__ import annotations

import pytest

from alerts.drift.findings import finding
from alerts.drift.followed import Followed
from alerts.drift.state import DAY, DriftState
from alerts.incidents.lasting import pages
from alerts.incidents.settings import IncidentSettings
from ragvigil.model.delta import Series

NOW = 1_772_323_200


def down(rubric: str, *, usual: float, residual: float, state: DriftState) -> Followed:
    """One series that is down."""
    followed = Followed()
    row = followed.row(Series(service="desk", environment="", route="/ask", rubric=rubric))
    states = followed.states
    states["state"][row], states["tick"][row] = state, NOW
    states["onset"][row] = NOW - 3600
    states["alarmed"][row] = NOW - 8 * DAY
    states["variance"][row] = 0.07
    states["recent_n"][row] = states["recent_squares"][row] = 400
    states["recent_profile"][row] = 400 * usual
    states["recent_residual"][row] = 400 * residual
    return followed


def test_a_drop_says_by_how_much_of_how_many() -> None:
    followed = down("groundedness", usual=0.84, residual=-0.06, state=DriftState.ALARM)
    drop = finding(followed, 0, NOW)
    assert drop.words == "sustained drop of groundedness by 6 points [3, 9] to 0.78, n 400"
    assert drop.low is not None
    assert drop.high is not None
    assert drop.low < -0.06 < drop.high < 0


def test_a_rate_rises() -> None:
    followed = down("refusal:refused", usual=0.95, residual=-0.1, state=DriftState.ALARM)
    rise = finding(followed, 0, NOW)
    assert rise.words == "sustained rise of refusal:refused by 10 points [7, 13] to 0.15, n 400"
    assert (rise.value, rise.reference) == (pytest.approx(0.15), pytest.approx(0.05))


def test_a_level_that_lasts_is_offered_for_a_decision() -> None:
    followed = down("groundedness", usual=0.84, residual=-0.06, state=DriftState.SHIFTED)
    words = finding(followed, 0, NOW).words
    assert words.endswith("it has lasted 8 days: accept the level as expected, or mend it")


@pytest.mark.parametrize(
    ("rubric", "is_page"),
    [("groundedness", True), ("context_precision", False), ("chunk_utilization", False)],
)
def test_what_harms_no_answer_by_itself_is_a_ticket(rubric: str, is_page: bool) -> None:
    followed = down(rubric, usual=0.84, residual=-0.06, state=DriftState.ALARM)
    assert pages(finding(followed, 0, NOW), IncidentSettings()) is is_page
