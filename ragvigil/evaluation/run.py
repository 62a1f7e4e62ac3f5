"""Asks a target the cases of a set, and scores what it answers by the daemon's own rubrics."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ragvigil.evaluation.cache import Reply
from ragvigil.evaluation.case import Case
from ragvigil.evaluation.measure import Measures, measured
from ragvigil.evaluation.result import Condition, Result
from ragvigil.evaluation.target.reply import NoAnswer, NoTrace
from ragvigil.evaluation.target.target import Target
from ragvigil.model.record import Document, Latencies, RagRecord
from scorers.golden import Gold

OF_CHUNKS = frozenset({"retrieved", "context", "document_texts", "retrieved_texts", "document_ids"})
FIRST_PAUSE_SECONDS = 0.5


class Cache(Protocol):
    """Keeps replies between runs."""

    def find(self, asked: Case, context: Sequence[str] | None) -> Reply | None:
        """A kept reply, None if there is none."""
        ...

    def keep(self, asked: Case, context: Sequence[str] | None, reply: Reply) -> None:
        """Keeps a reply."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A case under a condition; `context` are the chunks that the target is given, if any."""

    case: Case
    condition: Condition
    context: tuple[Gold, ...] | None = None

    @property
    def texts(self) -> tuple[str, ...] | None:
        """The texts of the context."""
        return None if self.context is None else tuple(chunk.text for chunk in self.context)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a question; `record` is None where the target gave no answer."""

    question: Question
    result: Result
    record: RagRecord | None


class NotPossible(ValueError):
    """A condition that this target and set cannot be run under; `str(error)` says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How a target is asked: at most `workers` questions at once, each `tries` times."""

    target: Target
    measures: Measures
    cache: Cache
    workers: int = 4
    tries: int = 3
    clock: Callable[[], float] = time.monotonic
    pause: Callable[[float], object] = time.sleep


def questions(
    cases: Sequence[Case], conditions: Sequence[Condition], *, takes_context: bool
) -> list[Question]:
    """What is asked: each case under each condition that it has. Raises NotPossible.

    A perturbed case is asked under `perturbed` alone, any other under `gold` and `retrieved`.
    `gold` needs the texts of all gold chunks.
    """
    asked = [
        Question(case=case, condition=condition, context=_context(case, condition))
        for condition in conditions
        for case in cases
        if _has(case, condition)
    ]
    needing = next((each for each in asked if each.context is not None), None)
    if needing and not takes_context:
        raise NotPossible(
            f"condition {needing.condition}: the target takes no context: set [golden.target] "
            "context, or give the function a parameter `context`"
        )
    if not asked:
        raise NotPossible(f"the set has no case for {', '.join(conditions)}")
    return asked


def run(asked: Sequence[Question], how: Run) -> Generator[Outcome, None, None]:
    """The outcome of each question, as they come; replies are kept as soon as they are there.

    A target that does not answer is tried again after pauses; then its result has an error. When
    the iterator is closed, what runs is ended and nothing else is asked.
    """
    pool = ThreadPoolExecutor(how.workers)
    try:
        futures = [pool.submit(_outcome, question, how) for question in asked]
        for future in as_completed(futures):
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _has(case: Case, condition: Condition) -> bool:
    if condition is Condition.PERTURBED:
        return case.perturbation is not None
    if case.perturbation is not None:
        return False
    has_texts = bool(case.gold) and all(gold.text for gold in case.gold)
    return condition is Condition.RETRIEVED or has_texts


def _context(case: Case, condition: Condition) -> tuple[Gold, ...] | None:
    if condition is Condition.GOLD:
        return case.gold
    return case.context or () if condition is Condition.PERTURBED else None


def _outcome(question: Question, how: Run) -> Outcome:
    case = question.case
    result = Result(
        case_id=case.case_id,
        condition=question.condition,
        group=case.group,
        slices=_slices(case),
        must_pass=case.must_pass,
        issue_id=case.issue_id,
    )
    record = None
    try:
        record = _record(question, how)
    except NoAnswer as error:
        result = replace(result, error=str(error))
    return Outcome(
        question=question, result=measured(result, case, record, how.measures), record=record
    )


def _slices(case: Case) -> dict[str, tuple[str, ...]]:
    slices: dict[str, tuple[str, ...]] = {}
    for name, value in case.slice_values():
        slices[name] = (*slices.get(name, ()), value)
    if case.route:
        slices["route"] = (case.route,)
    return slices


def _record(question: Question, how: Run) -> RagRecord:
    """What the target answers, now or in an earlier run. Raises NoAnswer."""
    case, texts = question.case, question.texts
    kept = None if how.target.is_recorded else how.cache.find(case, texts)
    reply = kept or _asked(question, how)
    record = how.target.record(case, reply.reply)
    if kept is None and not how.target.is_recorded:
        # Only what could be read: a reply of another form is asked for again.
        how.cache.keep(case, texts, reply)
    if question.context is not None:
        record = _given(record, question.context)
    if how.target.is_recorded or record.latencies.total is not None:
        return record
    return replace(record, latencies=Latencies(total=reply.seconds))


def _asked(question: Question, how: Run) -> Reply:
    for left in reversed(range(how.tries)):
        began = how.clock()
        try:
            reply: Any = how.target.reply(question.case, question.texts)
            return Reply(reply, round(how.clock() - began, 4))
        except NoAnswer as error:
            if not left or isinstance(error, NoTrace):
                raise
        how.pause(FIRST_PAUSE_SECONDS * 2 ** (how.tries - 1 - left))
    raise AssertionError("unreachable: the last try returns or raises")


def _given(record: RagRecord, context: Sequence[Gold]) -> RagRecord:
    """The record of an answer to given chunks: they are what reached the prompt, and all of it."""
    from collector.record.citations import CitationSource, citations

    documents = tuple(
        Document(chunk_id=chunk.chunk_id or f"chunk-{place + 1}", content=chunk.text, rank=place)
        for place, chunk in enumerate(context)
    )
    absent = {name: why for name, why in record.absent.items() if name not in OF_CHUNKS}
    cited = citations(CitationSource(answer=record.answer or "", context=documents))
    return replace(record, retrieved=documents, context=documents, citations=cited, absent=absent)
