"""Computes scores from a judge's verdicts: the judge never names a score (ADR 10).

Every quote is searched in the record. A verdict whose quote is not found is not accepted: a score
that depends on it is missing (label `downgraded`), since neither the judge's grade nor another one
is proven. The strict reading gives such a verdict the rubric's grade `without_quote` instead. The
score of a record with a text that addresses a model is withheld (label `injection_suspected`): what
it would have been is in the details as `value`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from pydantic import BaseModel

from ragvigil.model.score import Kind, Score
from scorers.judge.aggregate import VerdictValue, aggregate, nugget_scores, prompt_depth
from scorers.judge.derived_scores import GradedChunk, derive
from scorers.judge.material import Item
from scorers.judge.prompt import MODE_WORDS
from scorers.judge.question import Question
from scorers.judge.suspicion import LABEL, suspicious_parts
from scorers.judge_table import NO_FAILURE, About, Grade, JudgeTable, PromptField, QuoteFrom
from scorers.rubric import Rubric, load_rubrics
from scorers.text.quotation import is_quoted

SHOWN = 300
"""Most characters of a quote, a claim or a reason in the details."""
JUDGE = "judge"
"""`Score.absent` of a score without a verdict; coverage counts it."""
QUOTES, DOWNGRADED = "quotes", "downgraded"
"""In the details: quotes that were searched, and those not found. The second is also the label of a
score that is missing for one."""
PLACES = {
    QuoteFrom.ITEM: "the chunk",
    QuoteFrom.CONTEXT: "the chunks",
    QuoteFrom.ANSWER: "the answer",
    QuoteFrom.REFERENCE: "the references",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Incomplete:
    """A reply lacks verdicts or has unknown ones: there is no score."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The judge's grade of an item, `given`, and `grade`: the same, or `without_quote`'s."""

    item: Item
    grade: Grade
    given: Grade
    quote: str = ""
    reason: str = ""

    @property
    def is_accepted(self) -> bool:
        """Whether its quote was found, or its grade needs none."""
        return self.grade == self.given

    @property
    def evidence(self) -> dict[str, object]:
        """The verdict as the details keep it, without empty values."""
        every = {
            "item": self.item.name,
            "grade": self.grade.name,
            "chunk_id": self.item.chunk_id,
            "text": self.item.text[:SHOWN],
            "quote": self.quote[:SHOWN],
            "reason": self.reason[:SHOWN],
            "given": "" if self.is_accepted else self.given.name,
        }
        return {name: value for name, value in every.items() if value or name == "item"}


Choose: TypeAlias = Callable[[Verdict], Grade]
"""The grade of a verdict that a reading counts: the accepted one, or the judge's."""


def read_scores(
    questions: Sequence[Question],
    answers: Sequence[BaseModel],
    *,
    judge: str,
    derived: Sequence[Rubric] | None = None,
    strict_quotes: bool = False,
) -> tuple[Score, ...] | Incomplete:
    """The score of the rubric that was asked, then those derived from its grades.

    `questions` are all questions about one record; `answers` are in their order. `derived` are the
    rubrics to compute from the grades, by default all. `strict_quotes`: a verdict whose quote is
    not found counts as `without_quote`, and leaves no score missing.
    """
    if not questions or len(questions) != len(answers):
        return Incomplete(reason=f"{len(answers)} replies to {len(questions)} questions")
    replies = [
        _without_delimiter(question.delimiter, answer.model_dump())
        for question, answer in zip(questions, answers, strict=True)
    ]
    first = questions[0]
    verdicts: list[Verdict] = []
    for question, reply in zip(questions, replies, strict=True):
        read = _verdicts(question, reply)
        if isinstance(read, Incomplete):
            return read
        verdicts += read
    known = {verdict.item.name for verdict in verdicts}
    lacking = [item.name for item in first.material.items if item.name not in known]
    if lacking:
        return Incomplete(reason=f"no verdict on {', '.join(lacking[:5])}")
    if derived is None:
        derived = derived_from(first.rubric.name, load_rubrics())
    reading = _Reading(question=first, verdicts=verdicts, replies=replies, derived=derived)
    proven = reading.scores(judge, lambda verdict: verdict.grade)
    if strict_quotes or all(verdict.is_accepted for verdict in verdicts):
        return proven
    believed = reading.scores(judge, lambda verdict: verdict.given)
    # A score that is the same either way does not depend on the verdicts that are not accepted.
    return tuple(
        score if score.value == other.value else _missing(score, first.table, reading.quotes)
        for score, other in zip(proven, believed, strict=True)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """All verdicts on one record, of which several may be about one item."""

    question: Question
    verdicts: Sequence[Verdict]
    replies: Sequence[Mapping[str, Any]]
    derived: Sequence[Rubric]

    @property
    def quotes(self) -> dict[str, int]:
        """How many quotes were searched, and how many of them were not found."""
        return {
            QUOTES: sum(verdict.given.quote for verdict in self.verdicts),
            DOWNGRADED: sum(not verdict.is_accepted for verdict in self.verdicts),
        }

    def scores(self, judge: str, choose: Choose) -> tuple[Score, ...]:
        """The score of the rubric and those derived from it, by the grades that `choose` gives."""
        question = self.question
        table, record = question.table, question.record
        by_item = _best_by_item(self.verdicts, table, choose)
        score = _score(question, list(by_item.values()), self.replies, judge)
        score = replace(score, details={**score.details, **self.quotes})
        if table.about is not About.CHUNKS:
            return (score,)
        chunks = _chunks(question, by_item)
        return (
            score,
            *(derive(rubric, table, record, chunks, score) for rubric in self.derived),
        )


def _best_by_item(
    verdicts: Sequence[Verdict], table: JudgeTable, choose: Choose
) -> dict[str, Verdict]:
    """The best verdict on each item, with the grade that counts.

    Each verdict on a claim comes from another part of the context: support anywhere is support.
    """
    order = [grade.name for grade in table.grades]
    best: dict[str, Verdict] = {}
    for verdict in verdicts:
        chosen = replace(verdict, grade=choose(verdict))
        before = best.get(verdict.item.name)
        if before is None or order.index(chosen.grade.name) < order.index(before.grade.name):
            best[verdict.item.name] = chosen
    return best


def _missing(score: Score, table: JudgeTable, quotes: Mapping[str, int]) -> Score:
    """The score as one without a value: it depends on a verdict that is not accepted."""
    place = PLACES[table.quote_from or QuoteFrom.CONTEXT]
    counts = f"{quotes[DOWNGRADED]} of {quotes[QUOTES]} quotes"
    return replace(
        score,
        value=None,
        label=DOWNGRADED,
        absent=JUDGE,
        explanation=f"verdict not accepted: its quote is not in {place} ({counts})",
    )


def _without_delimiter(delimiter: str, value: Any) -> Any:
    """Removes the delimiter from a reply, in case the data made the judge repeat it."""
    if isinstance(value, str):
        return value.replace(delimiter, "")
    if isinstance(value, dict):
        return {key: _without_delimiter(delimiter, entry) for key, entry in value.items()}
    return (
        [_without_delimiter(delimiter, entry) for entry in value]
        if isinstance(value, list)
        else value
    )


def derived_from(name: str, rubrics: Mapping[str, Rubric]) -> tuple[Rubric, ...]:
    """The rubrics that are computed from the grades of this rubric."""
    return tuple(rubric for rubric in rubrics.values() if rubric.derived_from == name)


def _verdicts(question: Question, reply: Mapping[str, Any]) -> list[Verdict] | Incomplete:
    """The verdicts of one reply, with checked quotes."""
    if not question.items:
        return _nuggets(question, reply)
    replied = reply.get("verdicts")
    names = {item.name for item in question.items}
    if not isinstance(replied, Mapping) or set(replied) != names:
        odd = sorted(names.symmetric_difference(replied if isinstance(replied, Mapping) else ()))
        return Incomplete(reason=f"not exactly one verdict on {', '.join(odd[:5]) or 'anything'}")
    item_verdicts = [_verdict(question, item, replied[item.name]) for item in question.items]
    valid = [verdict for verdict in item_verdicts if verdict is not None]
    return (
        valid
        if len(valid) == len(item_verdicts)
        else Incomplete(reason="a grade is not on the scale")
    )


def _nuggets(question: Question, reply: Mapping[str, Any]) -> list[Verdict] | Incomplete:
    """The verdicts on nuggets that the model found itself."""
    listed = reply.get("nuggets") or []
    texts = [" ".join(nugget["nugget"].casefold().split()) for nugget in listed]
    if not texts or len(set(texts)) < len(texts) or not all(texts):
        return Incomplete(reason="no nugget, or one twice")
    verdicts = []
    for number, nugget in enumerate(listed, 1):
        is_vital = nugget["importance"] == "vital"
        item = Item(name=f"n{number}", text=nugget["nugget"], is_vital=is_vital)
        verdict = _verdict(question, item, nugget)
        if verdict is None:
            return Incomplete(reason="a grade is not on the scale")
        verdicts.append(verdict)
    return verdicts


def _verdict(question: Question, item: Item, entry: Mapping[str, Any]) -> Verdict | None:
    """A verdict with its quote checked; None if its grade is not on the scale."""
    table = question.table
    name, quote = str(entry.get("grade")), str(entry.get("quote", "")).strip()
    grade = next((candidate for candidate in table.grades if candidate.name == name), None)
    if grade is None:
        return None
    is_accepted = not grade.quote or is_quoted(quote, _quotable(question, item))
    return Verdict(
        item=item,
        grade=grade if is_accepted else table.grade(table.without_quote),
        given=grade,
        quote=quote,
        reason=str(entry.get("reason", "")),
    )


def _quotable(question: Question, item: Item) -> list[str]:
    """The texts in which a quote may be found; chunks are whole, even if they were split."""
    table = question.table
    if table.quote_from is QuoteFrom.ANSWER:
        return [question.record.answer or ""]
    if table.quote_from is QuoteFrom.REFERENCE:
        return list(question.reference.texts)
    passages = question.material.passages
    if table.quote_from is QuoteFrom.ITEM:
        return [passage.text for passage in passages if passage.name == item.passage]
    return [passage.text for passage in passages]


def _score(
    question: Question,
    verdicts: Sequence[Verdict],
    replies: Sequence[Mapping[str, Any]],
    judge: str,
) -> Score:
    rubric, table = question.rubric, question.table
    graded = [
        VerdictValue(value=verdict.grade.value, is_vital=verdict.item.is_vital)
        for verdict in verdicts
        if verdict.grade.value is not None
    ]
    value = _value(question, graded)
    counts = Counter(verdict.grade.name for verdict in verdicts)
    suspicions = _suspicions(question)
    labels = [grade.name for grade in table.grades if grade.label and counts[grade.name]]
    labels = [LABEL] if suspicions else labels  # withheld: no verdict counts, not even as a label
    failure, mode = _failure(replies)
    details: dict[str, object] = {
        "grades": dict(counts),
        "verdicts": [verdict.evidence for verdict in verdicts],
        "failure_type": failure,
        "failure_mode": mode,
        **nugget_scores(table, graded),
    }
    if suspicions:
        details |= {"value": value, "suspected": suspicions}
    return Score(
        rubric=rubric.name,
        value=None if suspicions else value,
        label=",".join(labels),
        explanation=_explanation(table, counts, mode, value, bool(suspicions)),
        layer=rubric.layer,
        scorer=judge,
        version=rubric.version,
        kind=Kind.JUDGE,
        details=details,
    )


def _value(question: Question, graded: Sequence[VerdictValue]) -> float | None:
    """The rubric's aggregate; of retrieved chunks only as many count as reached the prompt."""
    table = question.table
    is_retrieved = PromptField.RETRIEVED in table.shows
    top = prompt_depth(question.record, table.top) if is_retrieved else table.top
    return aggregate(table.aggregation, graded, top)


def _explanation(
    table: JudgeTable, counts: Mapping[str, int], mode: str, value: float | None, withheld: bool
) -> str:
    summary = ", ".join(
        f"{counts[grade.name]} x {grade.name}" for grade in table.grades if counts[grade.name]
    )
    if withheld:
        return f"a text addresses the model, so the score is withheld; {summary}"
    if value is None:
        return f"nothing that counts was found: {summary}"
    return f"{summary}: {mode}" if mode else summary


def _failure(replies: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """The first failure that a reply names, and its mode, cut to MODE_WORDS words."""
    named = [reply for reply in replies if reply.get("failure_type") not in (None, NO_FAILURE)]
    if not named:
        return NO_FAILURE, ""
    mode = str(named[0].get("failure_mode", "")).split()
    return str(named[0]["failure_type"]), " ".join(mode[:MODE_WORDS])[:SHOWN]


def _suspicions(question: Question) -> list[str]:
    record, shows = question.record, question.table.shows
    other_texts = [
        text
        for shown, text in (
            (PromptField.QUESTION, record.query),
            (PromptField.ANSWER, record.answer),
        )
        if text and (shown in shows or shown is PromptField.ANSWER)
    ]
    return suspicious_parts(
        [passage.text for passage in question.material.passages],
        other_texts,
        judge_alone=question.table.scores_injected,
    )


def _chunks(question: Question, verdicts_by_item: Mapping[str, Verdict]) -> tuple[GradedChunk, ...]:
    """The grade of each chunk, in the order of retrieval."""
    return tuple(
        GradedChunk(chunk_id=item.chunk_id, grade=verdicts_by_item[item.name].grade)
        for item in question.material.items
    )
