"""What pages and metrics show of issues: how many members, since when, where, of which versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragvigil.model.issue import Failure, FailureKind, MemberBy, Membership
from ragvigil.model.score import Kind, Layer, Stream
from ragvigil.store.priority import Priority

if TYPE_CHECKING:
    from ragvigil.store.store import Store

DAYS = 14
LATEST = 2**63 - 1
_NAMES = (
    "trace_id", "record_id", "service", "environment", "route", "reason", "rubric", "label",
    "question", "inclusion_probability", "service_version", "prompt_version", "index_epoch",
    "llm_model",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """Members of an issue that were looked at with one chance.

    `days` are those of the last 14 days (UTC), today last.
    """

    stream: Stream
    inclusion_probability: float
    members: int
    days: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trait:
    """A route, version or model that members of an issue have: `name` is which of these it is."""

    name: str
    value: str
    members: int
    first_unix_nano: int
    last_unix_nano: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ungrouped:
    """Records of a route, and how many of them fail in one family outside of every issue."""

    service: str
    environment: str
    route: str
    family: Layer
    failing: int
    requests: int


def looked(
    store: Store,
    now: float,
    issues: Sequence[str] = (),
    *,
    priority: Priority = Priority.PAGE,
) -> dict[str, list[Looked]]:
    """Members by issue, of these issues or of all; `now` in seconds since the epoch."""
    asked = {"issues": list(issues), "now": int(now), "days": DAYS}
    found: dict[str, list[Looked]] = {}
    for row in store.read("issue_looked", asked, priority=priority):
        one = Looked(
            stream=Stream(row["stream"]),
            inclusion_probability=row["inclusion_probability"],
            members=int(row["members"]),
            days=tuple(map(int, reversed(row["days"]))),
        )
        found.setdefault(row["issue_id"], []).append(one)
    return found


def traits(store: Store, issue_id: str, most: int = 5) -> list[Trait]:
    """Routes and versions of an issue's members, of each kind the commonest first."""
    return [
        Trait(
            name=row["name"],
            value=row["value"],
            members=int(row["members"]),
            first_unix_nano=row["first_nanos"],
            last_unix_nano=row["last_nanos"],
        )
        for row in store.read("issue_traits", {"issue_id": issue_id, "limit": most})
    ]


def members(
    store: Store, issue_id: str, *, before_unix_nano: int = LATEST, limit: int = 100
) -> list[tuple[Failure, Membership]]:
    """Members of an issue that failed before a time, the newest first."""
    asked = {"issue_id": issue_id, "before": before_unix_nano, "limit": limit}
    return [
        (_failure(row), _membership(row, issue_id)) for row in store.read("issue_members", asked)
    ]


def ungrouped(store: Store, since: int) -> list[Ungrouped]:
    """Routes and families since a time, in seconds since the epoch; most failing first."""
    return [
        Ungrouped(
            service=row["service"],
            environment=row["environment"],
            route=row["route"],
            family=Layer(row["family"]),
            failing=int(row["failing"]),
            requests=int(row["requests"]),
        )
        for row in store.read("failures_by_route", {"since": since})
    ]


def _failure(row: Mapping[str, Any]) -> Failure:
    return Failure(
        **{name: row[name] for name in _NAMES},
        time_unix_nano=row["time_nanos"],
        kind=FailureKind(row["kind"]),
        family=Layer(row["family"]),
        rubrics=tuple(row["rubrics"]),
        scorer_kind=Kind(row["scorer_kind"]),
        stream=Stream(row["stream"]),
    )


def _membership(row: Mapping[str, Any], issue_id: str) -> Membership:
    return Membership(
        trace_id=row["trace_id"],
        record_id=row["record_id"],
        issue_id=issue_id,
        by=MemberBy(row["by"]),
        strength=row["strength"],
        others=tuple(zip(row["other_issues"], row["other_strengths"], strict=True)),
    )
