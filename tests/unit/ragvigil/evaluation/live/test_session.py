"""Sessions read: threads, retries, reformulations, escalation, two rubrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragvigil.evaluation.live.session import (
    SessionReading,
    are_alike_by_words,
    consecutive,
    figures_of,
    reading_of,
)


@dataclass(frozen=True, kw_only=True)
class Turn:
    question: str
    is_unanswered: bool = False
    complaints: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Talk:
    turns: Sequence[Turn]
    complaints: frozenset[str] = frozenset()


def read(*turns: Turn | str, told: str = "") -> SessionReading:
    made = [turn if isinstance(turn, Turn) else Turn(question=turn) for turn in turns]
    talk = Talk(turns=made, complaints=frozenset(told.split()))
    return reading_of(talk, are_alike_by_words)


def values(reading: SessionReading) -> dict[str, float | None]:
    return {score.rubric: score.value for score in reading.scores}


def test_a_question_asked_again_is_a_retry_or_a_reformulation() -> None:
    found = read(
        "How long do refunds take?",
        "how long do refunds take",
        "how long does a refund take?",
        "Is a fee charged?",
    )
    assert (found.turns, found.retries, found.reformulations) == (4, 1, 1)
    assert found.threads == (3, 1)
    assert values(found) == {"session_resolved": 1.0, "session_direct": 0.5}


def test_a_question_with_another_number_is_another_question() -> None:
    found = read("Can I cancel order 123?", "Can I cancel order 124?")
    assert (found.retries, found.reformulations, found.threads) == (0, 0, (1, 1))


def test_a_user_who_pressed_retry_asked_again_whatever_the_words() -> None:
    first = Turn(question="How long?", complaints=frozenset({"retry"}))
    found = read(first, "When does the money arrive?")
    assert (found.retries, found.threads) == (1, (2,))


def test_a_refused_last_answer_a_complaint_and_an_escalation_resolve_nothing() -> None:
    refused = read(Turn(question="How long?", is_unanswered=True))
    disliked = read(Turn(question="How long?", complaints=frozenset({"thumbs_down"})))
    escalated = read("How long?", told="escalation")
    for found in (refused, disliked, escalated):
        assert values(found)["session_resolved"] == 0.0
    assert escalated.is_escalated
    assert not disliked.is_escalated
    assert refused.threads == ()


def test_unknown_questions_are_no_repeats() -> None:
    found = read("", "")
    assert (found.retries, found.reformulations) == (0, 0)
    assert consecutive([Talk(turns=[Turn(question=""), Turn(question="a")])]) == []


def test_figures_have_their_numbers_and_intervals() -> None:
    readings = [read("a?", "a?"), read("b?"), read("c?", told="escalation")]
    found = figures_of(readings)
    assert (found.sessions, found.turns) == (3, 4)
    assert found.turns_to_resolution == 4 / 3
    assert found.retries is not None
    assert (found.retries.value, found.retries.n) == (1.0, 1)
    assert found.escalations is not None
    assert found.escalations.low < 1 / 3 < (found.escalations.high or 0)
    resolved = found.rubrics["session_resolved"]
    assert resolved is not None
    assert (round(resolved.value, 3), resolved.n) == (0.667, 3)
    nothing = figures_of([])
    assert nothing.retries is None
    assert nothing.rubrics == {"session_resolved": None, "session_direct": None}
