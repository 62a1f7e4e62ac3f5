"""What fails at the same rate all the time is background, from the first day of a service on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragvigil.model.outcome import Outcome
from ragvigil.model.score import Kind
from ragvigil.store.engine.store import Store
from tests.outcomes import NOW, SECOND, outcome_of
from tests.unit.clustering.issues.test_job import HOUR, Works, failing, keep

HOURS = 8


@pytest.fixture
def works(store: Store) -> Works:
    """A service of eight hours: of the 25 answers of an hour one fails, always in the same way."""
    for hour in range(HOURS):
        first, at = 100 * hour, NOW - (HOURS - hour) * HOUR * SECOND
        passing = [outcome_of(first + n, value=1.0, time_unix_nano=at) for n in range(1, 25)]
        keep(store, *passing, failing(first + 50, time_unix_nano=at))
    return Works(store=store)


def test_what_fails_since_a_service_is_known_opens_no_issue(works: Works) -> None:
    works.turn()
    assert works.issues() == []
    (kind,) = works.job.background()
    assert (kind.count.seen, kind.answers, kind.rate) == (8, 200, 0.04)


def test_what_begins_in_the_first_day_is_an_issue(works: Works) -> None:
    keep(works.store, *(failing(900 + n) for n in range(10)))
    works.turn()
    (issue,) = works.issues()
    assert issue.members == 18


def test_without_a_past_only_what_fails_often_is_an_issue(store: Store) -> None:
    works = Works(store=store)
    passing = [outcome_of(n, value=1.0) for n in range(100, 150)]
    keep(store, *passing, *(failing(n) for n in range(4)))
    works.turn()
    assert works.issues() == []
    keep(store, *(failing(n) for n in range(4, 8)))
    works.turn()
    assert [issue.members for issue in works.issues()] == [8]


def judged(number: int) -> Outcome:
    """An answer that a judge failed, who sees three of ten."""
    outcome = failing(number)
    (scored,) = outcome.records
    first, *rest = scored.scores
    graded = replace(first, kind=Kind.JUDGE, inclusion_probability=0.3)
    return replace(outcome, records=(replace(scored, scores=(graded, *rest)),))


def test_a_few_answers_that_a_judge_failed_of_a_few_are_no_issue(store: Store) -> None:
    works = Works(store=store)
    passing = [outcome_of(n, value=1.0) for n in range(100, 190)]
    keep(store, *passing, *(judged(n) for n in range(4)))  # of about 28
    works.turn()
    assert works.issues() == []
    keep(store, *(judged(n) for n in range(4, 10)))  # ten of about 30
    works.turn()
    assert [issue.members for issue in works.issues()] == [10]
