"""Answers that are kept: who gets which, who reads, and what a failure does."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest

from ragvigil.store.engine.errors import Unavailable
from ragvigil.store.engine.kept import MOST, Kept
from tests.patience import PATIENCE_SECONDS

NEW = 5.0


class Reading:
    """Counts its calls and answers with their number; each takes `seconds`."""

    def __init__(self) -> None:
        self.calls, self.now, self.seconds = 0, 100.0, 1.0
        self.may_end, self.fails = Event(), False
        self.may_end.set()
        self.kept = Kept(NEW, lambda: self.now)

    def __call__(self) -> int:
        self.calls += 1
        number = self.calls
        self.may_end.wait()
        self.now += self.seconds
        if self.fails:
            raise Unavailable("away")
        return number

    def ask(self) -> int:
        return self.kept.of("key", self)


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.001)


@pytest.fixture
def reading() -> Reading:
    return Reading()


def test_an_answer_passes_for_new(reading: Reading) -> None:
    assert reading.ask() == 1
    reading.now += NEW
    assert reading.ask() == 1
    assert reading.calls == 1


def test_an_old_answer_is_given_and_read_anew(reading: Reading) -> None:
    reading.ask()
    reading.now += NEW + 1
    reading.may_end.clear()
    assert [reading.ask(), reading.ask()] == [1, 1]
    until(lambda: reading.calls == 2)
    reading.may_end.set()
    until(lambda: reading.ask() == 2)
    assert reading.calls == 2


def test_a_very_old_answer_is_not_given(reading: Reading) -> None:
    reading.ask()
    reading.now += 31
    assert reading.ask() == 2


def test_nobody_waits_for_a_renewal_that_gives_way() -> None:
    reading, gives_way, may_go_on = Reading(), Event(), Event()

    def give_way() -> None:
        gives_way.set()
        may_go_on.wait()

    reading.kept = Kept(NEW, lambda: reading.now, give_way)
    reading.ask()
    reading.now += NEW + 1
    assert reading.ask() == 1
    assert gives_way.wait(PATIENCE_SECONDS)
    reading.now += 31
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(reading.ask)
        try:
            assert asked.result(PATIENCE_SECONDS) == 2
        finally:
            may_go_on.set()


def test_all_who_ask_at_once_share_a_read(reading: Reading) -> None:
    reading.may_end.clear()
    together = Barrier(4)

    def ask() -> int:
        together.wait()
        return reading.ask()

    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(ask) for _ in range(4)]
        reading.may_end.set()
        assert {answer.result() for answer in answers} == {1}


def test_what_was_forgotten_is_read(reading: Reading) -> None:
    reading.ask()
    reading.kept.forget()
    assert reading.ask() == 2


def test_an_answer_read_before_it_was_forgotten_is_not_kept(reading: Reading) -> None:
    reading.may_end.clear()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(reading.ask)
        until(lambda: reading.calls == 1)
        reading.kept.forget()
        reading.may_end.set()
        assert first.result() == 1
    assert reading.ask() == 2


def test_a_failure_is_raised_and_tried_again(reading: Reading) -> None:
    reading.fails = True
    with pytest.raises(Unavailable):
        reading.ask()
    reading.fails = False
    assert reading.ask() == 2


def test_a_failure_behind_the_readers_back_leaves_the_old_answer(reading: Reading) -> None:
    reading.ask()
    reading.now += NEW + 1
    reading.fails = True
    reading.ask()
    until(lambda: reading.calls == 2)
    assert reading.ask() == 1
    reading.now += 30
    with pytest.raises(Unavailable):
        reading.ask()


def test_nothing_is_kept_for_no_seconds(reading: Reading) -> None:
    kept = Kept(0.0)
    assert [kept.of("key", reading), kept.of("key", reading)] == [1, 2]


def test_the_answers_asked_for_last_are_kept(reading: Reading) -> None:
    reading.seconds = NEW / MOST / 2
    first = reading.ask()
    for other in range(MOST - 1):
        reading.kept.of(other, reading)
    assert reading.ask() == first
    for other in range(MOST):
        reading.kept.of(other + MOST, reading)
    assert reading.ask() != first


def test_an_answer_that_took_no_time_is_read_again(reading: Reading) -> None:
    reading.seconds = 0.01
    assert reading.ask() == 1
    reading.now += 0.9
    assert reading.ask() == 1
    reading.now += 6
    assert reading.ask() == 2


def test_an_act_of_a_person_leaves_what_it_does_not_change(reading: Reading) -> None:
    assert reading.kept.of("traffic", reading, lasts=True) == 1
    assert reading.ask() == 2
    reading.kept.forget()
    assert reading.kept.of("traffic", reading, lasts=True) == 1
    assert reading.ask() == 3


def test_a_window_until_now_keeps_its_key(reading: Reading) -> None:
    a_day = [reading.kept.moving(reading.now - 86_400)]
    fixed = reading.now - 86_400
    reading.now += 90
    assert [reading.kept.moving(reading.now - 86_400)] == a_day
    assert reading.kept.moving(fixed) != a_day[0]


def test_what_changes_slowly_passes_for_new_for_as_long_as_is_said(reading: Reading) -> None:
    def ask() -> int:
        return reading.kept.of("key", reading, new_seconds=120.0)

    assert ask() == 1
    reading.now += 120
    assert ask() == 1
    reading.now += 500
    reading.may_end.clear()
    assert ask() == 1
    until(lambda: reading.calls == 2)
    reading.may_end.set()
    until(lambda: ask() == 2)


def test_what_is_of_a_day_passes_for_new_longer_the_more_it_costs(reading: Reading) -> None:
    def ask() -> int:
        return reading.kept.of("key", reading, most_seconds=120.0)

    reading.seconds = 0.2
    assert ask() == 1
    reading.now += 20
    assert ask() == 1
    reading.now += 6 * 20
    assert ask() == 2


def test_nothing_passes_for_new_longer_than_its_reader_allows(reading: Reading) -> None:
    def ask() -> int:
        return reading.kept.of("key", reading, most_seconds=8.0)

    assert ask() == 1
    reading.now += 6 * 8 + 1
    assert ask() == 2
