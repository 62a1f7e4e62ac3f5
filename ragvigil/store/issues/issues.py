"""Issues, what was done to them, and which are alike: `issues`, `issue_events`, `issue_pairs`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ragvigil.model.issue import (
    Issue,
    IssueEvent,
    IssuePair,
    IssueState,
    IssueVerb,
    Membership,
    PairVerdict,
)
from ragvigil.model.score import Layer
from ragvigil.store.engine.batch import Batch, Row, token_of
from ragvigil.store.engine.priority import Priority
from ragvigil.store.issues import failing_rows as failed
from ragvigil.store.issues import memberships
from ragvigil.store.issues.failing_rows import KeptFailure
from ragvigil.store.records.span_rows import nanos

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

_SAME = (
    "issue_id",
    "service",
    "environment",
    "rubric",
    "label",
    "name",
    "vector_model",
    "assignee",
    "resolved_in",
    "merged_into",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueFilter:
    """Which issues; an empty filter is none. `text` is in the name, or is the id."""

    issue_id: str = ""
    service: str = ""
    environment: str = ""
    family: str = ""
    states: tuple[str, ...] = ()
    route: str = ""
    text: str = ""
    with_merged: bool = False
    with_centroids: bool = False
    limit: int = 1000


def batch(
    written_unix_nano: int,
    *,
    failures: Iterable[KeptFailure] = (),
    members: Iterable[tuple[KeptFailure, Membership]] = (),
    events: Iterable[IssueEvent] = (),
    pairs: Iterable[IssuePair] = (),
    issues: Iterable[Issue] = (),
    replica: str = "",
    epoch: int = 0,
) -> Batch:
    """A batch that stores these, the issues last: what is in an issue unheard of is in none."""
    writer = (written_unix_nano, replica, epoch)
    placed = [(failed.place_of(kept), one) for kept, one in members]
    tables: dict[str, Sequence[Row]] = {
        "failures": failed.rows(failures, written_unix_nano, replica=replica, epoch=epoch),
        "memberships": memberships.rows(placed, written_unix_nano, replica=replica, epoch=epoch),
        "issue_events": [(*_event_values(one), *writer) for one in events],
        "issue_pairs": [(*_pair_values(one), *writer) for one in pairs],
        "issues": [(*_values(one), *writer) for one in issues],
    }
    found = {table: some for table, some in tables.items() if some}
    return Batch(rows=found, token=token_of("issues", *found.items()))


def _values(one: Issue) -> Row:
    return (
        one.issue_id,
        one.service,
        one.environment,
        one.family.value,
        one.rubric,
        one.label,
        one.name,
        one.state.value,
        nanos(one.first_unix_nano),
        nanos(one.last_unix_nano),
        nanos(one.opened_unix_nano),
        one.members,
        int(one.is_provisional),
        int(one.is_name_frozen),
        list(one.routes),
        list(one.centroid),
        one.vector_model,
        one.assignee,
        nanos(one.state_unix_nano),
        one.resolved_in,
        nanos(one.resolved_unix_nano),
        nanos(one.ignored_until_unix_nano),
        one.ignored_members,
        one.merged_into,
    )


def _event_values(one: IssueEvent) -> Row:
    return (one.issue_id, nanos(one.time_unix_nano), one.verb.value, one.actor, one.text)


def _pair_values(one: IssuePair) -> Row:
    time = nanos(one.time_unix_nano)
    return (one.kept, one.merged, one.verdict.value, one.likeness, one.shared, time, one.actor)


def find(store: Store, wanted: IssueFilter, *, priority: Priority = Priority.PAGE) -> list[Issue]:
    """Issues that match, newest member first; merged ones by id only. Raises as `Store.read`."""
    asked = asdict(wanted) | {"states": list(wanted.states)}
    return [_issue(row) for row in store.read("issues_find", asked, priority=priority)]


def _issue(row: Mapping[str, Any]) -> Issue:
    return Issue(
        **{name: row[name] for name in _SAME},
        family=Layer(row["family"]),
        state=IssueState(row["state"]),
        first_unix_nano=row["first_nanos"],
        last_unix_nano=row["last_nanos"],
        opened_unix_nano=row["opened_nanos"],
        members=int(row["members"]),
        is_provisional=bool(row["is_provisional"]),
        is_name_frozen=bool(row["is_name_frozen"]),
        routes=tuple(row["routes"]),
        centroid=tuple(row["centroid"]),
        state_unix_nano=row["state_nanos"],
        resolved_unix_nano=row["resolved_nanos"],
        ignored_until_unix_nano=row["ignored_until_nanos"],
        ignored_members=int(row["ignored_members"]),
    )


def events(store: Store, issue_id: str) -> list[IssueEvent]:
    """What was done to one issue, oldest first."""
    return [
        IssueEvent(
            issue_id=row["issue_id"],
            time_unix_nano=row["time_nanos"],
            verb=IssueVerb(row["verb"]),
            actor=row["actor"],
            text=row["text"],
        )
        for row in store.read("issue_events_of", {"issue_id": issue_id})
    ]


def pairs(
    store: Store,
    *,
    verdict: PairVerdict | None = None,
    issue_id: str = "",
    priority: Priority = Priority.PAGE,
) -> list[IssuePair]:
    """Pairs that are alike, the likest first; of one verdict or one issue where asked."""
    asked = {"verdict": verdict.value if verdict else "", "issue_id": issue_id}
    return [
        IssuePair(
            kept=row["kept"],
            merged=row["merged"],
            verdict=PairVerdict(row["verdict"]),
            likeness=row["likeness"],
            shared=row["shared"],
            time_unix_nano=row["time_nanos"],
            actor=row["actor"],
        )
        for row in store.read("issue_pairs_find", asked, priority=priority)
    ]
