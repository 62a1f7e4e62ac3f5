"""A canary chosen from judged records in the store, and the comparison of its runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from ragvigil.model.score import Score
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import canary
from scorers.calibration.canary_job import choose_canary, shifts
from tests.judged import RUBRICS, keep_judged, verdict
from tests.outcomes import NOW, SECOND

BARS = {name: facts.fails_below or 0.0 for name, facts in RUBRICS.items()}
LATER = NOW / 1e9 + 60


def run(
    store: Store, chosen: canary.CanarySet, name: str, at: int, value: Callable[[int], float]
) -> None:
    scores = [
        score
        for place, member in enumerate(chosen.members)
        for score in canary.scores_of_run(name, at, member.record, both(value(place)), RUBRICS)
    ]
    store.write(canary.scores_batch(chosen.set_id, scores, at))


def both(value: float) -> list[Score]:
    return [verdict(value), verdict(0.6, rubric="context_relevance")]


def test_without_judged_records_there_is_no_canary(store: Store) -> None:
    keep_judged(store, {1: []})
    assert choose_canary(store, LATER, BARS) is None
    assert canary.current(store) is None


def test_a_canary_is_good_bad_and_borderline_records_of_every_route(store: Store) -> None:
    for first, route in ((0, "/a"), (100, "/b")):
        values = {first + number: [verdict(number % 5 / 4)] for number in range(1, 76)}
        keep_judged(store, values, route=route)
    chosen = choose_canary(store, LATER, BARS)
    assert chosen is not None
    assert Counter(member.kind for member in chosen.members) == {
        "good": 20,
        "bad": 20,
        "borderline": 20,
    }
    assert {member.record.route for member in chosen.members} == {"/a", "/b"}
    assert canary.current(store) == chosen
    again = choose_canary(store, LATER + 1, BARS)
    assert again is not None
    assert (again.set_id, again.members) == (chosen.set_id, chosen.members)


def test_a_rerun_shows_which_rubric_moved(store: Store) -> None:
    keep_judged(store, {number: [verdict(number % 2)] for number in range(1, 41)})
    chosen = choose_canary(store, LATER, BARS)
    assert chosen is not None
    run(store, chosen, "first", NOW, lambda place: 0.9 - place % 2 / 2)
    assert shifts(store, chosen.set_id, BARS) == []
    run(store, chosen, "same", NOW + SECOND, lambda place: 0.9 - place % 2 / 2)
    assert [shift.moved for shift in shifts(store, chosen.set_id, BARS)] == [False, False]
    run(store, chosen, "strict", NOW + 2 * SECOND, lambda place: 0.7 - place % 2 / 2)
    relevance, grounded = shifts(store, chosen.set_id, BARS)
    assert (relevance.rubric, relevance.moved) == ("context_relevance", False)
    assert (grounded.moved, grounded.n, grounded.crossed) == (True, 40, 20)
    assert grounded.why.startswith("groundedness moved: -20.0 points over 40 frozen records")
