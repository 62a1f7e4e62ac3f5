"""Facts of issues that pages and metrics show: their members' number, days, routes and versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragvigil.model.issue import LEAST_TOLD, IssueLine, IssueState
from ragvigil.model.score import Stream
from ragvigil.store.engine.kept import SLOW_SECONDS
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.table import Table

if TYPE_CHECKING:
    from ragvigil.model.issue import Issue
    from ragvigil.store.engine.store import Store

DAYS = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledMembers:
    """Members of an issue that were scored with one inclusion probability.

    `days` counts them on each of the last 14 days (UTC), today last; `last_day` those of
    the last 24 hours.
    """

    stream: Stream
    inclusion_probability: float
    members: int
    days: tuple[int, ...]
    last_day: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Trait:
    """A route, version or model of an issue's members; `name` says which of these it is.

    `of_members` are those of which it is known.
    """

    name: str
    value: str
    members: int
    of_members: int
    first_unix_nano: int
    last_unix_nano: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """A rubric that `members` of an issue fail; a member may fail several."""

    rubric: str
    members: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What waits for a person: new issues, and golden cases that are proposed."""

    new_issues: int
    proposed_cases: int


LINKS = Table("issues", IssueLine)
MOST_LINKS = 1000


def links(
    store: Store, states: Sequence[IssueState], *, service: str = "", route: str = ""
) -> list[IssueLine]:
    """Issues in these states, newest member first; all places where none is given.

    500 of them take 10 ms of CPU, where whole issues take 18 (measured): the page Now shows lines.
    Raises as `Store.read` does.
    """
    asked = {"states": [state.value for state in states], "service": service, "route": route}
    return LINKS.read(store, "issue_links", asked | {"limit": MOST_LINKS})


def waiting(store: Store) -> Waiting:
    """What waits now, counted by the store."""
    (row,) = store.read("waiting_counted", {"least_told": LEAST_TOLD})
    return Waiting(**{name: int(count) for name, count in row.items()})


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
            last_day=int(row["last_day"]),
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
            of_members=int(row["of_members"]),
            first_unix_nano=row["first_nanos"],
            last_unix_nano=row["last_nanos"],
        )
        for row in store.read("issue_traits", {"issues": list(issues), "limit": most})
    ]


def facets(store: Store, issues: Sequence[str]) -> list[Facet]:
    """The rubrics that members of these issues fail, the commonest first."""
    rows = store.read("issue_facets", {"issues": list(issues)})
    return [Facet(rubric=row["rubric"], members=int(row["members"])) for row in rows]


def requests(store: Store, now: float, issues: Sequence[str]) -> dict[str, int]:
    """Answers on the routes of each issue in the 24 hours before `now` (seconds), failing or not.

    Those before the minute of the issue's first member do not count.
    """
    rows = store.read("issue_requests", {"issues": list(issues), "now": int(now)})
    return {row["issue_id"]: int(row["requests"]) for row in rows}


def elsewhere(
    store: Store, issue: Issue, issues: Sequence[str], traits: Sequence[Trait], since: int
) -> list[tuple[int, int]]:
    """How many other answers of the issue's service have each trait, and of how many it is known.

    `since` is in seconds. `issues` are the issue's own id and those that were merged into it.
    """
    if not traits:
        return []
    parameters = {
        "service": issue.service,
        "environment": issue.environment,
        "issues": list(issues),
        "since": since,
    }
    answers, known = Counter[tuple[str, str]](), Counter[str]()
    key = ("elsewhere", issue.service, issue.environment, tuple(issues), since // 60)
    rows = store.kept.of(
        key,
        lambda: store.read("issue_elsewhere", parameters),
        lasts=True,
        most_seconds=SLOW_SECONDS,
    )
    for row in rows:
        for name in {trait.name for trait in traits if row[trait.name]}:
            answers[name, row[name]] += int(row["answers"])
            known[name] += int(row["answers"])
    return [(answers[trait.name, trait.value], known[trait.name]) for trait in traits]
