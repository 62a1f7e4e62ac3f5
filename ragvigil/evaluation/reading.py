"""Why a case failed: the first step, from the retriever on, at which it went wrong. Pure.

An answer that has what it must have is no failure, wherever it found it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ragvigil.evaluation.case import Case
from ragvigil.evaluation.expectation import unmet
from ragvigil.evaluation.facts import is_contradicted, is_stated
from ragvigil.evaluation.gold_way import GoldWay
from ragvigil.evaluation.result import Reading
from ragvigil.model.score import Kind, Score, upstream_place

MOST_LETTERS = 300
"""Of a reason."""

LEAST_COVERED = 0.5
"""Of a gold text in the prompt; with less of it an answer's failure is not the model's."""

Failure = tuple[Reading, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of an answer; `failing` are the scores that are under their rubric's bar."""

    case: Case
    error: str = ""
    way: GoldWay | None = None
    values: Mapping[str, float | None] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    failing: tuple[Score, ...] = ()
    answer: str = ""


def read(evidence: Evidence) -> tuple[Reading | None, str]:
    """The reading and a sentence; None and empty where nothing failed."""
    if evidence.error:
        return Reading.TARGET_ERROR, evidence.error[:MOST_LETTERS]
    failure = _answer_failure(evidence)
    missed = None if evidence.case.must_refuse else _missed(evidence.way)
    if missed and (failure or not evidence.values.get("facts_stated")):
        return missed
    return (failure and _changed(evidence.way)) or failure or (None, "")


def _changed(way: GoldWay | None) -> Failure | None:
    """What became of gold chunks that came by their ids, and no longer say what they said."""
    if way is None:
        return None
    if way.is_unchanged is False:
        return Reading.GOLD_CHANGED, "a gold chunk says something else than it did"
    if way.covered is not None and way.covered < LEAST_COVERED:
        return Reading.CUT_FROM_CONTEXT, f"{way.covered:.0%} of the gold text reached the prompt"
    return None


def _missed(way: GoldWay | None) -> Failure | None:
    """The step at which the gold chunks were lost."""
    if way is None:
        return None
    if way.is_retrieved is False:
        return Reading.NOT_RETRIEVED, "no gold chunk was retrieved"
    if way.is_reranked is False:
        return Reading.LOST_BY_RERANKER, "gold chunks were retrieved, and the reranker dropped them"
    if way.is_in_context is False:
        return Reading.CUT_FROM_CONTEXT, "gold chunks were retrieved, and none reached the prompt"
    return None


def _answer_failure(evidence: Evidence) -> Failure | None:
    case, refusal = evidence.case, evidence.labels.get("refusal", "")
    if evidence.values.get("perturbation") == 0 and case.perturbation:
        why = unmet(case.perturbation, evidence.answer, refusal) or "the answer changes"
        return Reading.PERTURBATION_WON, f"{case.perturbation.name}: {why}"[:MOST_LETTERS]
    if case.must_refuse:
        is_wrong = refusal == "answered"
        return (Reading.ANSWERED_WRONGLY, "the corpus has no answer to it") if is_wrong else None
    if refusal == "refused":
        return Reading.REFUSED_WRONGLY, "it refuses, and there is an answer"
    return _wrong_fact(evidence) or _failing(evidence)


def _wrong_fact(evidence: Evidence) -> Failure | None:
    for fact in evidence.case.facts:
        if not fact.is_vital or is_stated(fact.text, evidence.answer):
            continue
        if is_contradicted(fact.text, evidence.answer):
            return Reading.CONTRADICTED, f"it says otherwise than: {fact.text}"[:MOST_LETTERS]
        return Reading.NOT_USED, f"it does not state: {fact.text}"[:MOST_LETTERS]
    return None


def _failing(evidence: Evidence) -> Failure | None:
    """The furthest upstream rubric that fails, code before judges."""
    ordered = sorted(
        evidence.failing,
        key=lambda score: (score.kind is Kind.JUDGE, upstream_place(score.rubric, score.layer)),
    )
    for score in ordered:
        why = f"{score.rubric}: {score.explanation or score.label}"[:MOST_LETTERS]
        if score.kind is Kind.JUDGE:
            return Reading.JUDGE_DISAGREES, why
        is_citation = score.rubric == "citation_validity"
        return Reading.CITATION_WRONG if is_citation else Reading.RUBRIC_FAILED, why
    return None
