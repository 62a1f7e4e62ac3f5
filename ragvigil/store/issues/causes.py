"""What a search for a root cause compares: an issue's members with records that pass."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from ragvigil.model.issue import Issue
from ragvigil.store.engine.errors import QueryFailed
from ragvigil.store.engine.priority import Priority

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

Form: TypeAlias = dict[str, Any]

DAY = 86_400
MOST_DAYS = 7
"""No issue is compared over a longer time than this: a long scan holds up everyone."""
MOST_RECORDS = 500
DIMENSIONS = (
    "llm_model",
    "embedding_model",
    "reranker_model",
    "prompt_version",
    "index_epoch",
    "temperature",
    "max_tokens",
    "finish_reason",
    "top_k",
    "service_version",
    "tenant",
    "locale",
    "slice",
)


def since(issue: Issue) -> int:
    """The day before the first member, at most a week before the last; seconds since the epoch."""
    first, last = issue.first_unix_nano // 10**9, issue.last_unix_nano // 10**9
    return max(0, first - DAY, last - MOST_DAYS * DAY)


def failing(store: Store, issue: Issue, issue_ids: Collection[str]) -> list[Form]:
    """A sample of its members: `trace_id, record_id, time_nanos, route, query, dimensions`.

    `issue_ids` are those that they may have: its own, and of what was merged into it. The same
    sample each time; `dimensions` are those that are known, as texts. Raises as `Store.read`.
    """
    asked = _place(issue) | {"issue_ids": sorted(issue_ids)}
    return [_form(row) for row in store.read("cause_failing", asked, priority=Priority.SCAN)]


def passing(store: Store, issue: Issue) -> list[Form]:
    """A sample of live records of its routes and time that fail nothing, in the same form.

    Of its last day alone where the time is longer than a query may read.
    """
    asked = _place(issue) | {"routes": list(issue.routes), "rubric": issue.rubric}
    last_day = {"first": max(0, issue.last_unix_nano // 10**9 - DAY)}
    try:
        rows = store.read("cause_passing", asked, priority=Priority.SCAN)
    except QueryFailed:
        rows = store.read("cause_passing", asked | last_day, priority=Priority.SCAN)
    return [_form(row) for row in rows]


def explained(store: Store, since_unix_nano: int) -> tuple[dict[str, int], int]:
    """When each issue was explained last, by id, and the runs of a model on all since a time."""
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


def _form(row: Mapping[str, Any]) -> Form:
    known = {name: row[name] for name in DIMENSIONS if row[name] not in (None, "")}
    return {
        **{name: row[name] for name in ("trace_id", "record_id", "time_nanos", "route", "query")},
        "dimensions": {name: str(value) for name, value in known.items()},
    }
