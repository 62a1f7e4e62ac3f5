"""What a search for a root cause compares: an issue's members with records that pass."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ragvigil.model.issue import ComparedRecord, Issue
from ragvigil.model.record import Dimensions
from ragvigil.store.engine.errors import QueryFailed
from ragvigil.store.engine.priority import Priority

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

DAY = 86_400
MOST_DAYS = 7
"""An issue is compared over at most this time: a long scan holds up all other queries."""
MOST_RECORDS = 500
DIMENSIONS = tuple(field.name for field in fields(Dimensions))


def since(issue: Issue) -> int:
    """The day before the first member, at most a week before the last; seconds since the epoch."""
    first, last = issue.first_unix_nano // 10**9, issue.last_unix_nano // 10**9
    return max(0, first - DAY, last - MOST_DAYS * DAY)


def failing(store: Store, issue: Issue, issue_ids: Collection[str]) -> list[ComparedRecord]:
    """A random sample of the issue's members, the same each time. Raises as `Store.read` does.

    `issue_ids` are the issue's own id and those of the issues that were merged into it.
    """
    parameters = _place(issue) | {"issue_ids": sorted(issue_ids)}
    return [_record(row) for row in store.read("cause_failing", parameters, priority=Priority.SCAN)]


def passing(store: Store, issue: Issue) -> list[ComparedRecord]:
    """A random sample of live records of its routes and time that fail nothing.

    The sample is of its last day alone if the whole time exceeds the limits of a query.
    """
    parameters = _place(issue) | {"routes": list(issue.routes)} | passing_rubric(issue)
    last_day = {"first": max(0, issue.last_unix_nano // 10**9 - DAY)}
    try:
        rows = store.read("cause_passing", parameters, priority=Priority.SCAN)
    except QueryFailed:
        rows = store.read("cause_passing", parameters | last_day, priority=Priority.SCAN)
    return [_record(row) for row in rows]


def passing_rubric(issue: Issue) -> dict[str, object]:
    """Parameters of the queries for what passes an issue's rubric, and has none of its labels."""
    labels = [part.strip() for part in issue.label.split(",") if part.strip()]
    return {"rubric": issue.rubric, "labels": labels}


def explained(store: Store, since_unix_nano: int) -> tuple[dict[str, int], int]:
    """When each issue was explained last, by id, and how often a model ran since a time."""
    rows = store.read("causes_explained", {"since": since_unix_nano}, priority=Priority.TICK)
    return {row["issue_id"]: row["newest"] for row in rows}, sum(int(row["runs"]) for row in rows)


def _place(issue: Issue) -> dict[str, object]:
    return {
        "service": issue.service,
        "environment": issue.environment,
        "first": since(issue),
        "last": issue.last_unix_nano // 10**9,
        "limit": MOST_RECORDS,
    }


def _record(row: Mapping[str, Any]) -> ComparedRecord:
    known = {name: str(row[name]) for name in DIMENSIONS if row[name] not in (None, "")}
    return ComparedRecord(
        trace_id=row["trace_id"],
        record_id=row["record_id"],
        time_unix_nano=row["time_nanos"],
        route=row["route"],
        question=row["query"],
        dimensions=known,
    )
