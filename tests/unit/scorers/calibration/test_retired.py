"""Which rubrics nobody is paged about: those whose judges are retired."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from prometheus_client import REGISTRY

from ragvigil.store.engine.store import Store
from ragvigil.store.scores import labels
from ragvigil.store.scores.labels import Label
from scorers.calibration import metrics
from scorers.calibration.report import Calibration
from tests.judged import RUBRICS, ids, keep_judged, verdict
from tests.outcomes import NOW

BARS = {name: facts.fails_below or 0.0 for name, facts in RUBRICS.items()}
DAY = 86_400
LATER = NOW / 1e9 + 60
MANY = range(1, 61)


@pytest.fixture(autouse=True)
def _no_metrics() -> Iterator[None]:
    yield
    metrics.show([])


def labelled(store: Store, rubric: str = "groundedness") -> None:
    """People say of every second answer that it passes."""
    given = [
        Label(
            label_id=f"{rubric}-{number}",
            rubric=rubric,
            trace_id=ids(number)[0],
            record_id=ids(number)[1],
            time_unix_nano=NOW,
            value=float(number % 2),
            labeller="ada",
        )
        for number in MANY
    ]
    store.write(labels.batch(given, NOW))


def calibration(store: Store, later: float = LATER) -> Calibration:
    return Calibration(store, BARS, lambda: later)


def test_a_judge_that_contradicts_people_is_retired_and_a_new_process_knows_at_once(
    store: Store,
) -> None:
    keep_judged(store, {number: [verdict(1 - number % 2)] for number in MANY})
    assert calibration(store).retired() == frozenset()
    labelled(store)
    assert calibration(store).retired() == {"groundedness"}


def test_a_judge_that_agrees_or_that_nobody_measured_is_not(store: Store) -> None:
    right = {number: verdict(number % 2) for number in MANY}
    other = {number: verdict(0.1, rubric="context_relevance") for number in MANY}
    keep_judged(store, {number: [right[number], other[number]] for number in MANY})
    labelled(store)
    assert calibration(store).retired() == frozenset()


def test_a_second_judge_at_work_that_is_not_retired_speaks_for_the_rubric(store: Store) -> None:
    keep_judged(store, {number: [verdict(1 - number % 2)] for number in MANY})
    labelled(store)
    keep_judged(store, {100: [verdict(0.9, judge="openai:new")]})
    assert calibration(store).retired() == frozenset()


def test_a_retired_judge_that_rests_stays_retired(store: Store) -> None:
    keep_judged(store, {number: [verdict(1 - number % 2)] for number in MANY})
    labelled(store)
    assert calibration(store, LATER + 2 * DAY).retired() == {"groundedness"}


def test_the_job_of_the_metrics_says_it_anew(store: Store) -> None:
    keep_judged(store, {number: [verdict(1 - number % 2)] for number in MANY})
    known = calibration(store)
    assert known.retired() == frozenset()
    labelled(store)
    assert known.retired() == frozenset()
    known.show_metrics()
    assert known.retired() == {"groundedness"}
    state = {"rubric": "groundedness", "judge": "openai:judge v1", "state": "retired"}
    assert REGISTRY.get_sample_value("ragvigil_judge_state", state) == 1


def test_rubrics_computed_from_the_grades_of_a_retired_one_are_no_better(store: Store) -> None:
    wrong = {
        number: [verdict(1 - number % 2, rubric="context_relevance"), verdict(number % 2)]
        for number in MANY
    }
    keep_judged(store, wrong)
    labelled(store)
    labelled(store, "context_relevance")
    derived = {"answerable", "context_precision", "prompt_relevance", "rerank_gain"}
    assert calibration(store).retired() == {"context_relevance", *derived}
