"""The passing answer that stands beside a failing one."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from ragvigil.model.issue import OTHER_CHUNKS, Likeness
from ragvigil.model.outcome import Outcome
from ragvigil.model.record import Dimensions
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import issues as stored
from ragvigil.store.issues import topics
from ragvigil.store.issues.failing_rows import KeptFailure
from ragvigil.store.issues.neighbours import neighbours
from ragvigil.store.issues.topics import Question
from tests.flow.test_api import keep as keep_outcomes
from tests.flow.test_api import outcome
from tests.issues import NANOS, NOW, failure, issue

RUBRIC = "citation_validity"
HOUR = 3600
ISSUE = issue(rubric=RUBRIC, vector_model="model-1")


def answered(
    number: int, question: str, *, ago: int, prompt: str = "v3", **more: object
) -> Outcome:
    """A stored answer to this question; it passes unless `value` says otherwise."""
    made = outcome(number, NOW - ago, **more)  # type: ignore[arg-type]
    (scored,) = made.records
    record = replace(scored.record, query=question, dimensions=Dimensions(prompt_version=prompt))
    return replace(made, records=(replace(scored, record=record),))


def failing(number: int, question: str, vector: tuple[float, ...] = ()) -> KeptFailure:
    """A failing answer with the vector of its question."""
    from array import array

    failed = failure(number, ago=60, question=question, rubric=RUBRIC, prompt_version="v5")
    return KeptFailure(
        failure=failed,
        masked="",
        received=NOW,
        digest=1,
        reason_vector=array("f", vector).tobytes(),
        question_vector=array("f", vector).tobytes(),
        vector_model="model-1" if vector else "",
    )


def keep(store: Store, *kept: KeptFailure) -> None:
    store.write(stored.batch(time.time_ns(), failures=kept))


def asked(store: Store, number: int, question: str, vector: tuple[float, ...], ago: int) -> None:
    """A question with its vector, as the job of topics keeps it."""
    at = NOW - ago
    row = Question(
        minute=at - at % 60, trace_id=f"{number:032x}", record_id=f"{number:016x}",
        service="desk", environment="prod", question=question, is_sampled=True,
    )  # fmt: skip
    store.write(topics.question_batch([row], [vector], "model-1", time.time_ns()))


def test_the_same_question_before_the_change_is_the_neighbour(store: Store) -> None:
    member = failing(1, "How long do refunds take?")
    keep(store, member)
    keep_outcomes(
        store,
        [
            answered(10, "How  LONG do refunds take?", ago=2 * HOUR),
            answered(11, "how long do refunds take?", ago=5 * HOUR),
            answered(12, "How long do refunds for mugs take?", ago=HOUR),
        ],
    )
    (neighbour,) = neighbours(store, ISSUE, [member])
    assert neighbour.by is Likeness.SAME
    assert neighbour.trace_id == f"{10:032x}"
    assert (neighbour.prompt_version, neighbour.likeness) == ("v3", 1.0)
    assert neighbour.time_unix_nano == (NOW - 2 * HOUR) * NANOS


def test_what_fails_or_is_of_another_route_is_no_neighbour(store: Store) -> None:
    member = failing(1, "How long do refunds take?")
    keep(store, member, replace(failing(10, "How long do refunds take?")))
    keep_outcomes(
        store,
        [
            answered(10, "How long do refunds take?", ago=60),
            answered(11, "How long do refunds take?", ago=HOUR, route="/orders"),
            answered(12, "How long do refunds take?", ago=HOUR, value=0.5),
            answered(13, "How long do refunds take?", ago=HOUR, value=None),
        ],
    )
    assert neighbours(store, ISSUE, [member]) == []


def refusing(made: Outcome) -> Outcome:
    """The same answer, refused."""
    (scored,) = made.records
    scores = [
        replace(score, label="refused") if score.rubric == "refusal" else score
        for score in scored.scores
    ]
    return replace(made, records=(replace(scored, scores=tuple(scores)),))


def test_beside_a_refusal_stands_an_answer_and_no_refusal_of_before(store: Store) -> None:
    member = failing(1, "How long do refunds take?")
    keep(store, member)
    keep_outcomes(
        store,
        [
            refusing(answered(10, "How long do refunds take?", ago=HOUR)),
            answered(11, "How long do refunds take?", ago=2 * HOUR),
        ],
    )
    refusals = replace(ISSUE, rubric="refusal", label="refused")
    (neighbour,) = neighbours(store, refusals, [member])
    assert neighbour.trace_id == f"{11:032x}"


@pytest.mark.parametrize(
    ("rubric", "label"), [("answer_words", "short"), (OTHER_CHUNKS, "other_chunks")]
)
def test_beside_what_no_rubric_scores_stands_an_answer_that_fails_nothing(
    store: Store, rubric: str, label: str
) -> None:
    member = failing(1, "How long do refunds take?")
    keep(store, member, failing(10, "How long do refunds take?"))
    keep_outcomes(
        store,
        [
            answered(10, "How long do refunds take?", ago=60),
            answered(11, "How long do refunds take?", ago=HOUR),
        ],
    )
    (neighbour,) = neighbours(store, replace(ISSUE, rubric=rubric, label=label), [member])
    assert neighbour.trace_id == f"{11:032x}"


def test_without_the_same_question_the_nearest_by_words_is_shown_if_it_is_near(
    store: Store,
) -> None:
    near, far = failing(1, "How long does a PayPal refund take?"), failing(2, "Wo ist der Laden?")
    keep(store, near, far)
    keep_outcomes(
        store,
        [
            answered(10, "How long does a card refund take?", ago=HOUR),
            answered(11, "Where is my parcel?", ago=HOUR),
        ],
    )
    (neighbour,) = neighbours(store, ISSUE, [near, far])
    assert neighbour.by is Likeness.WORDS
    assert neighbour.beside_trace_id == near.failure.trace_id
    assert neighbour.question == "How long does a card refund take?"
    assert neighbour.likeness == pytest.approx(6 / 8)


def test_with_vectors_the_nearest_by_meaning_is_shown(store: Store) -> None:
    member = failing(1, "How long does a PayPal refund take?", (1.0, 0.0))
    keep(store, member)
    keep_outcomes(
        store,
        [
            answered(10, "How long does a PayPal refund usually last?", ago=HOUR),
            answered(11, "When is my money back?", ago=HOUR),
            answered(12, "Money, when?", ago=HOUR, route="/orders"),
        ],
    )
    asked(store, 10, "How long does a PayPal refund usually last?", (0.6, 0.8), HOUR)
    asked(store, 11, "When is my money back?", (0.8, 0.6), HOUR)
    asked(store, 12, "Money, when?", (1.0, 0.0), HOUR)
    (neighbour,) = neighbours(store, ISSUE, [member])
    assert neighbour.by is Likeness.MEANING
    assert neighbour.question == "When is my money back?"
    assert neighbour.likeness == pytest.approx(0.8, abs=1e-6)


def test_a_question_that_is_hidden_has_no_neighbour(store: Store) -> None:
    member = replace(failing(1, ""), failure=replace(failing(1, "").failure, question=None))
    keep(store, member)
    assert neighbours(store, ISSUE, [member]) == []
