"""What pages and metrics show of issues: how many members, since when, where, of which versions."""

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


def sampled_members(
    store: Store, now: float, issues: Sequence[str], *, priority: Priority = Priority.PAGE
) -> dict[str, list[SampledMembers]]:
    """Members by the issue they joined, of these issues; `now` in seconds since the epoch."""
    asked = {"issues": list(issues), "now": int(now), "days": DAYS}
    found: dict[str, list[SampledMembers]] = {}
    for row in store.read("issue_looked", asked, priority=priority):
        one = SampledMembers(
            stream=Stream(row["stream"]),
            inclusion_probability=row["inclusion_probability"],
            members=int(row["members"]),
            days=tuple(map(int, reversed(row["days"]))),
        )
        found.setdefault(row["issue_id"], []).append(one)
    return found


def traits(store: Store, issues: Sequence[str], most: int = 5) -> list[Trait]:
    """Routes and versions of the members of these issues, of each kind the commonest first."""
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
