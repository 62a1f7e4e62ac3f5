"""Passing records that stand beside failing ones: the same question, or the nearest that passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragvigil.model.issue import SHOWN_BY_INCIDENTS, Issue, Likeness
from ragvigil.store.engine.kept import SLOW_SECONDS
from ragvigil.store.issues import causes
from ragvigil.store.issues.failing_rows import KeptFailure

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

Key = tuple[str, str]

DAY = 86_400
MOST_COMPARED = 3000
"""Records whose questions are compared by words; those that ask the same are the first of them."""
MOST_CANDIDATES = 10
"""Like questions beside each member, of which the nearest that passes is taken."""
MOST_OF_ALL_ROUTES = 40
"""The same of questions by meaning: the vectors do not know the route."""
LEAST_MEANING = 0.6
"""Cosine of two questions; below it they share a topic at most."""
LEAST_WORDS = 0.3
"""Share of words that two questions have in common; below it they share little but "how", "is"."""


ORDER = tuple(Likeness)
"""The best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A record that passes, on the route of the failing record that it stands beside.

    It fails nothing, and passes the issue's rubric where one has scored it. `likeness` is 0..1: the
    cosine of both questions, or the share of words that both have.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """A record with a like question that may stand beside a failing one."""

    beside: Key
    key: Key
    minute: int
    by: Likeness
    likeness: float


def neighbours(store: Store, issue: Issue, members: Sequence[KeptFailure]) -> list[Neighbour]:
    """The nearest passing record of each member, where there is one, in the members' order.

    The same question comes first, then the nearest by meaning, then by words. Looked at is the time
    of the issue, at most a week, and a day on both sides; kept. Raises as `Store.read` does.
    """
    asked = [member for member in members if member.failure.question]
    if not asked:
        return []
    key = ("neighbours", issue.issue_id, tuple(member.key for member in asked))
    return store.kept.of(
        key, lambda: _read(store, issue, asked), lasts=True, most_seconds=SLOW_SECONDS
    )


def _read(store: Store, issue: Issue, asked: Sequence[KeptFailure]) -> list[Neighbour]:
    candidates = _by_words(store, issue, asked)
    same = {each.beside for each in candidates if each.by is Likeness.SAME}
    others = [member for member in asked if member.key not in same]
    if issue.vector_model and others:
        candidates += _by_meaning(store, issue, others)
    passing = _passing(store, issue, candidates)
    nearest: dict[Key, Neighbour] = {}
    routes = {member.key: member.failure.route for member in asked}
    for each in sorted(candidates, key=lambda each: ORDER.index(each.by)):
        record = passing.get(each.key)
        if record and record["route"] == routes[each.beside]:
            nearest.setdefault(each.beside, _neighbour(each, record))
    return [nearest[member.key] for member in asked if member.key in nearest]


def _by_words(store: Store, issue: Issue, members: Sequence[KeptFailure]) -> list[_Candidate]:
    rows = store.read("neighbours_by_words", _place(issue, members) | {"least": LEAST_WORDS})
    return [_candidate(row, Likeness.WORDS) for row in rows]


def _by_meaning(store: Store, issue: Issue, members: Sequence[KeptFailure]) -> list[_Candidate]:
    more = {"least": LEAST_MEANING, "each": MOST_OF_ALL_ROUTES}
    rows = store.read("neighbours_by_meaning", _place(issue, members) | more)
    return [_candidate(row, Likeness.MEANING) for row in rows]


def _passing(
    store: Store, issue: Issue, candidates: Sequence[_Candidate]
) -> dict[Key, Mapping[str, Any]]:
    """The records among the candidates that pass, by key."""
    if not candidates:
        return {}
    parameters = {
        "minutes": sorted({each.minute for each in candidates}),
        "trace_ids": sorted({each.key[0] for each in candidates}),
        "unscored": sorted(SHOWN_BY_INCIDENTS),
        **causes.passing_rubric(issue),
    }
    rows = store.read("neighbours_passing", parameters)
    return {(row["trace_id"], row["record_id"]): row for row in rows}


def _place(issue: Issue, members: Sequence[KeptFailure]) -> dict[str, object]:
    return {
        "minutes": sorted({member.minute for member in members}),
        "trace_ids": sorted({member.failure.trace_id for member in members}),
        "record_ids": sorted({member.failure.record_id for member in members}),
        "service": issue.service,
        "environment": issue.environment,
        "first": causes.since(issue),
        "last": issue.last_unix_nano // 10**9 + DAY,
        "model": issue.vector_model,
        "limit": MOST_COMPARED,
        "each": MOST_CANDIDATES,
    }


def _candidate(row: Mapping[str, Any], by: Likeness) -> _Candidate:
    return _Candidate(
        beside=(row["beside_trace_id"], row["beside_record_id"]),
        key=(row["trace_id"], row["record_id"]),
        minute=row["minute_seconds"],
        by=Likeness.SAME if row["is_same"] else by,
        likeness=min(1.0, float(row["likeness"])),
    )


def _neighbour(candidate: _Candidate, record: Mapping[str, Any]) -> Neighbour:
    return Neighbour(
        beside_trace_id=candidate.beside[0],
        beside_record_id=candidate.beside[1],
        trace_id=candidate.key[0],
        record_id=candidate.key[1],
        time_unix_nano=record["time_nanos"],
        route=record["route"],
        question=record["question"] or "",
        service_version=record["service_version"],
        prompt_version=record["prompt_version"],
        index_epoch=record["index_epoch"],
        llm_model=record["llm_model"],
        by=candidate.by,
        likeness=candidate.likeness,
    )
