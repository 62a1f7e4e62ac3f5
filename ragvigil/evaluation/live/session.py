"""What a session shows: was the user helped, and how often must a question be asked again? Pure.

A *thread* is a question with those right after it that ask the same: word by word (a retry), or in
other words (a reformulation). Questions with different numbers are never the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rapidfuzz import fuzz

from ragvigil.evaluation.live.release import Figure, score_mean, share
from ragvigil.model.score import Layer, Score

RESOLVED, DIRECT = "session_resolved", "session_direct"
SAME_WORDS = 80.0
"""Of `token_sort_ratio`: under it stand "ship to Norway" and "ship to Iceland" (76)."""
SAME_MEANING = 0.75
"""Cosine of the vectors of two questions: other questions on one topic lie around 0.5."""
NUMBER = re.compile(r"\d+")
SIGNS = " \t\r\n.?!"
Pair = tuple[str, str]
IsSame = Callable[[str, str], bool]


class Asked(Protocol):
    """A question and what became of it; see the store's `Turn`."""

    @property
    def question(self) -> str: ...
    @property
    def is_unanswered(self) -> bool: ...
    @property
    def complaints(self) -> frozenset[str]: ...


class Talk(Protocol):
    """Turns of one user, oldest first; see the store's `Session`."""

    @property
    def turns(self) -> Sequence[Asked]: ...
    @property
    def complaints(self) -> frozenset[str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReading:
    """One session: `threads` has the turns of each thread that was resolved."""

    turns: int
    retries: int
    reformulations: int
    is_escalated: bool
    threads: tuple[int, ...]
    scores: tuple[Score, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFigures:
    """All sessions of a service; shares of retries and reformulations are of later turns."""

    sessions: int
    turns: int
    turns_to_resolution: float | None
    retries: Figure | None
    reformulations: Figure | None
    escalations: Figure | None
    rubrics: Mapping[str, Figure | None]


def consecutive(talks: Sequence[Talk]) -> list[Pair]:
    """Questions with the one right after, those of equal words left out."""
    return [
        (first.question, second.question)
        for talk in talks
        for first, second in zip(talk.turns, talk.turns[1:], strict=False)
        if first.question and second.question and not is_retry(first.question, second.question)
    ]


def is_retry(first: str, second: str) -> bool:
    """Whether two questions are equal up to case, spaces and the signs at their ends.

    >>> is_retry("How long?", "how  long")
    True
    """
    return _plain(first) == _plain(second)


def are_alike_by_words(first: str, second: str) -> bool:
    """Whether two questions have nearly the same words: a lower bound of what is asked again.

    >>> are_alike_by_words("How long do refunds take?", "how long does a refund take")
    True
    >>> are_alike_by_words("Can I cancel order 123?", "Can I cancel order 124?")
    False
    """
    alike = fuzz.token_sort_ratio(_plain(first), _plain(second)) >= SAME_WORDS
    return alike and has_same_numbers(first, second)


def has_same_numbers(first: str, second: str) -> bool:
    """Whether two questions name the same numbers."""
    return sorted(NUMBER.findall(first)) == sorted(NUMBER.findall(second))


def reading_of(talk: Talk, is_same: IsSame) -> SessionReading:
    """Reads a session; `is_same` says whether a question asks what the one before it asked."""
    retries = reformulations = 0
    threads: list[list[Asked]] = []
    for turn in talk.turns:
        before = threads[-1][-1] if threads else None
        again = before is not None and bool(before.question and turn.question)
        retried = before is not None and (
            "retry" in before.complaints or (again and is_retry(before.question, turn.question))
        )
        reformulated = (
            again and not retried and before is not None and is_same(before.question, turn.question)
        )
        retries += retried
        reformulations += reformulated
        if retried or reformulated:
            threads[-1].append(turn)
        else:
            threads.append([turn])
    is_escalated = "escalation" in talk.complaints.union(*(turn.complaints for turn in talk.turns))
    helped = [not turn[-1].is_unanswered and not turn[-1].complaints for turn in threads]
    is_resolved = helped[-1] and not is_escalated and not talk.complaints
    repeats = retries + reformulations
    return SessionReading(
        turns=len(talk.turns),
        retries=retries,
        reformulations=reformulations,
        is_escalated=is_escalated,
        threads=tuple(len(thread) for thread, good in zip(threads, helped, strict=True) if good),
        scores=_scores(
            len(talk.turns), repeats, is_resolved=is_resolved, is_escalated=is_escalated
        ),
    )


def _scores(
    turns: int, repeats: int, *, is_resolved: bool, is_escalated: bool
) -> tuple[Score, ...]:
    why = "escalated" if is_escalated else "the last answer helped" if is_resolved else "unresolved"
    return (
        Score(
            rubric=RESOLVED,
            value=float(is_resolved),
            layer=Layer.CROSS_CUTTING,
            label="escalated" if is_escalated else "",
            explanation=why,
        ),
        Score(
            rubric=DIRECT,
            value=1 - repeats / turns,
            layer=Layer.CROSS_CUTTING,
            explanation=f"{repeats} of {turns} questions were asked again",
        ),
    )


def figures_of(readings: Sequence[SessionReading]) -> SessionFigures:
    """The figures of some sessions; a session is one voice, however long it is."""
    threads = [length for reading in readings for length in reading.threads]
    later = sum(reading.turns - 1 for reading in readings)
    return SessionFigures(
        sessions=len(readings),
        turns=sum(reading.turns for reading in readings),
        turns_to_resolution=sum(threads) / len(threads) if threads else None,
        retries=share(sum(reading.retries for reading in readings), later),
        reformulations=share(sum(reading.reformulations for reading in readings), later),
        escalations=share(sum(reading.is_escalated for reading in readings), len(readings)),
        rubrics={
            name: _mean([score.value for score in scores if score.value is not None])
            for name, scores in _by_rubric(readings).items()
        },
    )


def _by_rubric(readings: Sequence[SessionReading]) -> dict[str, list[Score]]:
    return {
        name: [score for reading in readings for score in reading.scores if score.rubric == name]
        for name in (RESOLVED, DIRECT)
    }


def _mean(values: Sequence[float]) -> Figure | None:
    return score_mean(len(values), sum(values), sum(value * value for value in values))


def _plain(question: str) -> str:
    return " ".join(question.lower().strip(SIGNS).split())
