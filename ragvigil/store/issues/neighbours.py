"""Passing records that stand beside failing ones: the same question, or the nearest that passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ragvigil.model.issue import Issue
from ragvigil.store.issues import causes
from ragvigil.store.issues.failing_rows import KeptFailure

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

Key = tuple[str, str]

DAY = 86_400
MOST_PASSING = 3000
"""Passing records whose questions are compared by words, besides all that ask the same."""
LEAST_MEANING = 0.6
"""Cosine of two questions; below it they share a topic at most."""
LEAST_WORDS = 0.3
"""Share of words that two questions have in common; below it they share little but "how", "is"."""


class Likeness(StrEnum):
    """How a neighbour was chosen."""

    SAME = "same"
    """It asks the same, word for word."""
    MEANING = "meaning"
    """By the vectors of the questions."""
    WORDS = "words"


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A record that passes, on the route of the failing record that it stands beside.

    It fails nothing, and the issue's rubric has scored it. `likeness` is 0..1: the cosine of both
    questions, or the share of words that both have.
    """

    beside_trace_id: str
    beside_record_id: str
    trace_id: str
    record_id: str
    time_unix_nano: int
    route: str
    question: str
    service_version: str
    prompt_version: str
    index_epoch: str
    llm_model: str
    by: Likeness
    likeness: float


def neighbours(store: Store, issue: Issue, members: Sequence[KeptFailure]) -> list[Neighbour]:
    """The nearest passing record of each member, where there is one, in the members' order.

    The same question comes first, then the nearest by meaning, then by words. Looked at is the time
    of the issue, at most a week, and a day on both sides. Raises as `Store.read` does.
    """
    asked = [member for member in members if member.failure.question]
    if not asked:
        return []
    by_words = _read(store, "neighbours_by_words", issue, asked, LEAST_WORDS)
    same = {key for key, neighbour in by_words.items() if neighbour.by is Likeness.SAME}
    others = [member for member in asked if member.key not in same]
    by_meaning = {}
    if issue.vector_model and others:
        by_meaning = _read(store, "neighbours_by_meaning", issue, others, LEAST_MEANING)
    nearest = by_words | by_meaning
    return [nearest[member.key] for member in asked if member.key in nearest]


def _read(
    store: Store, query: str, issue: Issue, members: Sequence[KeptFailure], least: float
) -> dict[Key, Neighbour]:
    parameters = {
        "minutes": sorted({member.minute for member in members}),
        "trace_ids": sorted({member.failure.trace_id for member in members}),
        "record_ids": sorted({member.failure.record_id for member in members}),
        "service": issue.service,
        "environment": issue.environment,
        "first": causes.since(issue),
        "last": issue.last_unix_nano // 10**9 + DAY,
        "rubric": issue.rubric,
        "least": least,
        "model": issue.vector_model,
        "limit": MOST_PASSING,
    }
    rows = map(_neighbour, store.read(query, parameters))
    return {(row.beside_trace_id, row.beside_record_id): row for row in rows}


def _neighbour(row: Mapping[str, Any]) -> Neighbour:
    by = Likeness.MEANING if "is_same" not in row else Likeness.WORDS
    return Neighbour(
        beside_trace_id=row["beside_trace_id"],
        beside_record_id=row["beside_record_id"],
        trace_id=row["trace_id"],
        record_id=row["record_id"],
        time_unix_nano=row["time_nanos"],
        route=row["route"],
        question=row["question"] or "",
        service_version=row["service_version"],
        prompt_version=row["prompt_version"],
        index_epoch=row["index_epoch"],
        llm_model=row["llm_model"],
        by=Likeness.SAME if row.get("is_same") else by,
        likeness=min(1.0, float(row["likeness"])),
    )
