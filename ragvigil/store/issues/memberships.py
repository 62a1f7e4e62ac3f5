"""The table `memberships`: the issue of each failing record that has one; counts of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragvigil.model.issue import FailureKind, MemberBy, Membership
from ragvigil.model.score import Layer, Stream
from ragvigil.store.engine.batch import Row
from ragvigil.store.engine.priority import Priority

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

HOUR = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """So many failing records that are alike, in the bin of time that begins at `start` (seconds).

    `issue_id` is empty for those in no issue.
    """

    issue_id: str
    service: str
    environment: str
    kind: FailureKind
    family: Layer
    rubric: str
    label: str
    route: str
    service_version: str
    index_epoch: str
    stream: Stream
    inclusion_probability: float
    start: int
    records: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """All records of a route, failing or not, in the bin of time that begins at `start`."""

    service: str
    environment: str
    route: str
    start: int
    requests: int


def rows(
    placed: Iterable[tuple[Row, Membership]],
    written_unix_nano: int,
    *,
    replica: str = "",
    epoch: int = 0,
) -> list[Row]:
    """Rows of the table, each given the place of its record (`failed.place_of`)."""
    return [(*place, *_values(one), 0, written_unix_nano, replica, epoch) for place, one in placed]


def _values(one: Membership) -> Row:
    return (
        one.issue_id,
        one.by.value,
        one.strength,
        [name for name, _ in one.others],
        [strength for _, strength in one.others],
    )


def membership_of(row: Mapping[str, Any]) -> Membership:
    """The membership of a row that has one."""
    return Membership(
        trace_id=row["trace_id"],
        record_id=row["record_id"],
        issue_id=row["issue_id"],
        by=MemberBy(row["by"]),
        strength=row["strength"],
        others=tuple(zip(row["other_issues"], row["other_strengths"], strict=True)),
    )


def counted(store: Store) -> dict[str, int]:
    """Members that are kept, by issue. Raises as `Store.read` does."""
    rows = store.read("members_counted", priority=Priority.TICK)
    return {row["issue_id"]: int(row["members"]) for row in rows}


def tally(
    store: Store,
    since: int,
    *,
    issue_ids: Iterable[str] = (),
    is_loose: bool = False,
    bin_seconds: int = HOUR,
    priority: Priority = Priority.PAGE,
) -> list[Tally]:
    """Failing records since then (seconds), counted; of these issues, or only those in none."""
    asked = {
        "since": max(0, since),
        "issue_ids": sorted(issue_ids),
        "placed": "loose" if is_loose else "any",
        "bin": bin_seconds,
    }
    return [
        Tally(
            **{
                **row,
                "kind": FailureKind(row["kind"]),
                "family": Layer(row["family"]),
                "stream": Stream(row["stream"]),
                "start": int(row["start"]),
                "records": int(row["records"]),
            }
        )
        for row in store.read("failures_tally", asked, priority=priority)
    ]


def requests(
    store: Store, since: int, *, bin_seconds: int = HOUR, priority: Priority = Priority.PAGE
) -> list[Requests]:
    """The traffic since then (seconds) of every route, oldest first."""
    asked = {"since": max(0, since), "bin": bin_seconds}
    return [
        Requests(**{**row, "start": int(row["start"]), "requests": int(row["requests"])})
        for row in store.read("requests", asked, priority=priority)
    ]
