"""Decides whether a case passes, as far as code can judge an answer to its question.

A run fails if the request fails, a rubric is under its bar, a vital fact is clearly missing, or a
question without an answer in the corpus is answered. It passes if nothing fails and something is
proved: every vital fact stated, the right refusal, or a rubric that knows the case's gold (`PROOF`)
at its bar. Otherwise the verdict is None and `why` says so: an answer in other words is not wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from clustering.golden.content import NO_ANSWER, Normalise
from ragvigil.model.golden import GoldenCase
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score

PROOF = frozenset({"context_recall", "completeness", "factual_accuracy"})
LEAST_SHARE = 0.5
"""With a smaller share of its words in the answer a fact is not stated, not even paraphrased."""
MOST_WORDS = 400
"""Characters of the reason."""


class Verdict(NamedTuple):
    """True for passed, False for failed, None for undecided; and why."""

    is_pass: bool | None
    why: str


def verdict(
    case: GoldenCase,
    record: RagRecord,
    scores: Sequence[Score],
    fails_below: Mapping[str, float],
    normalise: Normalise,
) -> Verdict:
    """The verdict on a record that answers the case's question; `scores` are that record's."""
    if record.error is not None:
        return Verdict(False, f"the request failed: {record.error}"[:MOST_WORDS])
    if record.answer is None:
        return Verdict(None, "the answer is not known")
    words = normalise(record.answer).split()
    vital = [fact.text for fact in case.expected_facts if fact.is_vital]
    shares = {text: stated_share(normalise(text).split(), words) for text in vital}
    problems = [*_failing(scores, fails_below), *_missing(shares), *_refusals(case, scores)]
    if problems:
        return Verdict(False, "; ".join(problems)[:MOST_WORDS])
    proofs = list(_proofs(case, shares, scores, fails_below))
    if proofs:
        return Verdict(True, "; ".join(proofs)[:MOST_WORDS])
    return Verdict(None, "nothing fails, and words alone do not prove that the answer is right")


def _failing(scores: Sequence[Score], fails_below: Mapping[str, float]) -> Iterator[str]:
    for score in scores:
        if score.fails(fails_below.get(score.rubric)):
            yield f"{score.rubric} {score.value:.2f}: {score.explanation or score.label}"


def stated_share(fact: Sequence[str], answer: Sequence[str]) -> float:
    """Share of a fact's words that an answer's words hold; 0 if a number of the fact is missing."""
    words, answer_words = set(fact), set(answer)
    if any(word[-1].isdigit() and word not in answer_words for word in words):
        return 0.0
    return len(words & answer_words) / len(words) if words else 1.0


def _missing(shares: Mapping[str, float]) -> Iterator[str]:
    for text, share in shares.items():
        if share < LEAST_SHARE:
            yield f"does not state: {text}"


def _refusals(case: GoldenCase, scores: Sequence[Score]) -> Iterator[str]:
    """Yields a wrong answer to an unanswerable question, or a wrong refusal."""
    labels = {score.label for score in scores if score.rubric == "refusal"}
    if case.failure_mode == NO_ANSWER and "answered" in labels:
        yield "answers what the corpus has no answer to"
    if case.failure_mode != NO_ANSWER and "refused" in labels:
        yield "refuses to answer"


def _proofs(
    case: GoldenCase,
    shares: Mapping[str, float],
    scores: Sequence[Score],
    fails_below: Mapping[str, float],
) -> Iterator[str]:
    if shares and min(shares.values()) == 1:
        yield "states every vital fact"
    for score in scores:
        bar = fails_below.get(score.rubric)
        if (
            score.rubric == "refusal"
            and case.failure_mode == NO_ANSWER
            and score.label == "refused"
        ):
            yield "refuses, as it should"
        elif score.rubric in PROOF and bar is not None and score.value is not None:
            yield f"{score.rubric} {score.value:.2f}"
