"""Rows and pools of the series that are followed."""

from __future__ import annotations

import numpy as np

from alerts.drift.detect import DriftRules, threshold
from alerts.drift.followed import Followed
from alerts.drift.state import Floats, numbers
from alerts.signals.catalogue import POOL
from ragvigil.model.delta import Series

RULES = DriftRules(threshold=threshold(12, 100, 8))
NAMES = ("/c", "/a", "/d", "/b")
START = 1_772_323_200


def named(route: str) -> Series:
    return Series(service="desk", environment="", route=route, rubric="groundedness", segment="1")


def step(followed: Followed, ticks: range) -> None:
    for number in ticks:
        rng = np.random.default_rng(number)
        order = [followed.row(named(route)) for route in NAMES]
        rows = np.repeat(order, 9)
        values = rng.choice([0, 7, 13, 20], size=len(rows), p=[0.05, 0.15, 0.3, 0.5])
        scores: Floats = np.ones(len(rows))
        followed.step(START + 300 * (number + 1), rows, values, scores, RULES)


def test_a_pool_comes_with_the_second_route() -> None:
    followed = Followed()
    first = followed.row(named("/a"))
    assert [each.route for each in followed.series] == ["/a"]
    assert followed.pool[first] == -1
    second = followed.row(named("/b"))
    assert followed.series[-1].route == POOL
    assert followed.routes_of(int(followed.pool[first])) == [first, second]


def test_states_taken_up_in_another_order_go_on_bit_for_bit() -> None:
    whole, first = Followed(), Followed()
    step(whole, range(300))
    step(first, range(150))
    stored = [
        (series, numbers(first.states[row : row + 1])[0]) for row, series in enumerate(first.series)
    ]
    again = Followed()
    again.restore(sorted(stored, key=lambda each: each[0].route))
    step(again, range(150, 300))
    for row, series in enumerate(again.series):
        place = whole.series.index(series)
        assert again.states[row].tobytes() == whole.states[place].tobytes(), series.route


def test_the_same_tick_is_not_taken_twice() -> None:
    followed = Followed()
    step(followed, range(10))
    before = followed.states.copy()
    step(followed, range(5, 10))
    assert (followed.states == before).all()
