"""Facts of issues that pages and metrics show: their members' number, days, routes and versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragvigil.model.score import Stream
from ragvigil.store.engine.priority import Priority

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

DAYS = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledMembers:
    """Members of an issue that were scored with one inclusion probability.

    `days` counts them on each of the last 14 days (UTC), today last.
    """

    stream: Stream
    inclusion_probability: float
    members: int
    days: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trait:
    """A route, version or model of an issue's members; `name` says which of these it is."""

    name: str
    value: str
    members: int
    first_unix_nano: int
    last_unix_nano: int


def sampled_members(
    store: Store, now: float, issues: Sequence[str], *, priority: Priority = Priority.PAGE
) -> dict[str, list[SampledMembers]]:
    """Members of these issues by issue id; `now` in seconds since the epoch."""
    parameters = {"issues": list(issues), "now": int(now), "days": DAYS}
    by_issue: dict[str, list[SampledMembers]] = {}
    for row in store.read("issue_looked", parameters, priority=priority):
        members = SampledMembers(
            stream=Stream(row["stream"]),
            inclusion_probability=row["inclusion_probability"],
            members=int(row["members"]),
            days=tuple(map(int, reversed(row["days"]))),
        )
        by_issue.setdefault(row["issue_id"], []).append(members)
    return by_issue


def traits(store: Store, issues: Sequence[str], most: int = 5) -> list[Trait]:
    """Routes and versions of the members of these issues; of each kind the `most` commonest."""
    return [
        Trait(
            name=row["name"],
            value=row["value"],
            members=int(row["members"]),
            first_unix_nano=row["first_nanos"],
            last_unix_nano=row["last_nanos"],
        )
        for row in store.read("issue_traits", {"issues": list(issues), "limit": most})
    ]
