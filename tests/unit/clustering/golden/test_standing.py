"""Whether a case that passed fails again: several times in a row, more for one that is flaky."""

from __future__ import annotations

from random import Random

import pytest

from clustering.golden.metrics import FAILING_AGAIN, show
from clustering.golden.standing import LOOKED_AT, Standing, is_settled, standing
from ragvigil.model.golden import CaseRun, GoldenCase

STEADY, FLAKY, FAILS_AGAIN = Standing.STEADY, Standing.FLAKY, Standing.FAILS_AGAIN


def runs(ends: str) -> list[CaseRun]:
    """Runs from the newest: `+` passed, `-` failed, `?` undecided."""
    passes = {"+": True, "-": False, "?": None}
    return [
        CaseRun(
            case_id="c", time_unix_nano=len(ends) - place, against="target", is_pass=passes[end]
        )
        for place, end in enumerate(ends)
    ]


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ("", STEADY),
        ("+", STEADY),
        ("++-", STEADY),
        ("---++", STEADY),
        ("----++", FAILS_AGAIN),
        ("-?---?++", FAILS_AGAIN),
        ("++-+", FLAKY),
        ("-+-+", FLAKY),
        ("-----+-+", FLAKY),
        ("------+-+", FAILS_AGAIN),
        ("++-----++", STEADY),
    ],
)
def test_a_case_fails_again_after_enough_failures_in_a_row(ends: str, expected: Standing) -> None:
    assert standing(runs(ends)) is expected


def test_a_run_is_enough_where_it_passes_or_failed_often() -> None:
    assert is_settled(runs("+-")), is_settled(runs("----+"))
    assert not is_settled(runs("-+"))
    assert not is_settled(runs("----+-+"))


def test_cases_that_fail_one_run_in_five_make_no_ticket() -> None:
    """100 such cases, 90 nights: each failure is tried again at once. 9,000 nights, 3 tickets."""
    dice, tickets = Random(20), 0
    for _ in range(100):
        known: list[CaseRun] = runs("++")
        for _ in range(90):
            was = standing(known)
            while True:
                known = [*runs("+" if dice.random() >= 0.2 else "-"), *known][:LOOKED_AT]
                if is_settled(known):
                    break
            tickets += was is not FAILS_AGAIN and standing(known) is FAILS_AGAIN
    assert tickets <= 3


def test_the_gauge_of_a_place_without_such_a_case_is_0() -> None:
    case = GoldenCase(case_id="c", question="Why?", service="gauged", environment="prod")
    show([(case, FAILS_AGAIN)])
    gauge = FAILING_AGAIN.labels("gauged", "prod")
    assert gauge._value.get() == 1
    show([])
    assert gauge._value.get() == 0
