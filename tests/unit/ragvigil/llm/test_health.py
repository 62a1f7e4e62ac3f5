"""Whether the model answers is said at once, with the way out, and so is the end."""

from __future__ import annotations

import pytest

from ragvigil.llm.advice import WAYS_OUT
from ragvigil.llm.breaker import BreakerState
from ragvigil.llm.health import Health
from ragvigil.llm.outcome import Failure, FailureKind, Setback

KEY = Setback(kind=FailureKind.WRONG_KEY, detail="HTTP 401 invalid_api_key", is_outage=True)
SLOW = Setback(kind=FailureKind.TIMEOUT, detail="no whole reply within 30 s", passes=True)


class Clock:
    """Unix time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def health(clock: Clock) -> Health:
    return Health(clock)


def fail(health: Health, setback: Setback = KEY) -> None:
    health.stumbled(setback, is_first=True)
    health.failed(Failure(kind=setback.kind))


def test_before_the_first_question_nothing_is_said(health: Health) -> None:
    assert (health.lines(), health.check(), health.status()["state"]) == ([], [], "not asked yet")


def test_the_first_failed_question_is_told_with_the_way_out(health: Health) -> None:
    fail(health)
    (line,) = health.lines()
    assert "the judge fails since Tue 22:13 UTC: 1 of its last 1 questions" in line
    assert "wrong_key (HTTP 401 invalid_api_key); check the key" in line
    events = [news.event for news in health.check()]
    assert events == ["a call of the judge's model failed", "the judge fails"]
    for _ in range(50):
        fail(health)
    assert health.check() == []
    status = health.status()
    assert (status["state"], status["calls"], status["failures"]) == ("fails", 51, 51)
    assert status["failures_by_kind"] == ["wrong_key 51"]
    assert str(status["last_error"]).endswith("wrong_key (HTTP 401 invalid_api_key)")
    assert str(status["way_out"]).startswith("check the key")


def test_a_model_that_times_out_is_known_before_its_questions_give_up(health: Health) -> None:
    health.stumbled(SLOW, is_first=True)
    assert "timeout (no whole reply within 30 s)" in health.lines()[0]


def test_attempts_of_one_question_count_once(health: Health, clock: Clock) -> None:
    for _ in range(3):
        health.answered()
    for place in range(4):
        health.stumbled(SLOW, is_first=not place)
    clock.now += 1
    assert health.lines() == []


def test_an_answer_after_an_outage_ends_it_and_is_shown_for_an_hour(
    health: Health, clock: Clock
) -> None:
    for _ in range(60):
        fail(health)
        clock.now += 60
    health.check()
    for _ in range(5):
        health.answered()
    clock.now += 30
    (line,) = health.lines()
    assert line.startswith("the judge answers again since")
    assert "for 60 min it failed: wrong_key" in line
    assert [news.event for news in health.check()] == ["the judge answers again"]
    clock.now += 3600
    assert health.lines() == []


def test_a_share_between_the_lines_changes_nothing(health: Health, clock: Clock) -> None:
    changes = 0
    for number in range(2000):
        if number % 10 < 3:
            fail(health, SLOW)
        else:
            health.answered()
        clock.now += 0.1
        changes += len(health.check())
    # The first question is all there is, so that it decides: it fails, and works again.
    assert changes <= 4


def test_a_question_without_budget_says_nothing_about_the_model(
    health: Health, clock: Clock
) -> None:
    fail(health, Setback(kind=FailureKind.BUDGET, detail="the budget allows no further call"))
    fail(health, Setback(kind=FailureKind.BREAKER_OPEN, detail="left alone"))
    assert health.lines() == []
    assert health.is_budget_spent()
    assert health.status()["failures_by_kind"] == ["budget 1", "breaker_open 1"]
    clock.now += 3600
    assert not health.is_budget_spent()


def test_every_change_of_the_breaker_is_one_line(health: Health) -> None:
    fail(health)
    health.check()
    for state in (BreakerState.CLOSED, BreakerState.OPEN, BreakerState.OPEN):
        health.breaker_is(state, 30.0)
    (opened,) = health.check()
    assert opened.is_bad
    assert opened.event == "the judge's model gets no calls for 30 s, then a probe"
    assert opened.reason.startswith("wrong_key (HTTP 401 invalid_api_key); check the key")
    health.breaker_is(BreakerState.CLOSED, 0.0)
    health.answered()
    closed, again = health.check()
    assert closed.event == "the judge's model is asked again"
    assert again.event == "the judge answers again"


def test_every_kind_has_its_way_out() -> None:
    assert set(WAYS_OUT) == set(FailureKind)
    assert all(len(way) < 160 for way in WAYS_OUT.values())
