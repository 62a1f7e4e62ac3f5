"""The table `memberships`: the issue of each failing record that is in one, and counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragvigil.model.issue import Failure, FailureKind, Membership
from ragvigil.model.score import Layer, Stream
from ragvigil.store.engine.batch import Rows
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.table import Read, Table, table

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

HOUR = 3600
MOST_SECONDS = 2**32 - 1
"""What a DateTime can hold, in seconds since the epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The number of failing records that agree in all of this, in a bin of time.

    `start` is the beginning of the bin, in seconds since the epoch. `issue_id` is empty for records
    in no issue.
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
    """The number of records of a route, failing or not, in the bin that begins at `start`."""

    service: str
    environment: str
    route: str
    start: int
    requests: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlacedMembership:
    """A membership in the row of its record; times in seconds unless named otherwise."""

    minute: int
    time_unix_nano: int
    received: int
    membership: Membership


def _others(row: Read) -> tuple[tuple[str, float], ...]:
    return tuple(zip(row["other_issues"], row["other_strengths"], strict=True))


MEMBERSHIPS = table(
    "memberships",
    _PlacedMembership,
    computed={
        "other_issues": lambda placed: [name for name, _ in placed.membership.others],
        "other_strengths": lambda placed: [strength for _, strength in placed.membership.others],
    },
    parsed={"others": _others},
)


# Read only: counts that queries give.
TALLIES = Table("failures", Tally)
REQUESTS = Table("rollups", Requests)


def rows(members: Iterable[tuple[Failure, int, Membership]], **stamps: object) -> Rows:
    """Rows of the table, each of a failure, when it was received (seconds) and its membership."""
    placed = (
        _PlacedMembership(
            minute=minute_of(failure.time_unix_nano),
            time_unix_nano=failure.time_unix_nano,
            received=received,
            membership=membership,
        )
        for failure, received, membership in members
    )
    return MEMBERSHIPS.rows(placed, is_gone=0, **stamps)


def minute_of(time_unix_nano: int) -> int:
    """The start of the minute of a time, in seconds since the epoch: a key of these tables."""
    seconds = min(time_unix_nano // 10**9, MOST_SECONDS)
    return seconds - seconds % 60


def membership_of(row: Read) -> Membership | None:
    """The membership in a row of a failing record, None if the record is in no issue."""
    return MEMBERSHIPS.value(row).membership if row["issue_id"] else None


def member_counts(store: Store) -> dict[str, int]:
    """The number of stored members of each issue. Raises as `Store.read` does."""
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
    """Counts failing records since a time (seconds); `is_loose` counts only those in no issue.

    With `issue_ids` it counts the records of these issues alone.
    """
    parameters = {
        "since": max(0, since),
        "issue_ids": sorted(issue_ids),
        "placed": "loose" if is_loose else "any",
        "bin": bin_seconds,
    }
    return TALLIES.read(store, "failures_tally", parameters, priority=priority)


def requests(
    store: Store, since: int, *, bin_seconds: int = HOUR, priority: Priority = Priority.PAGE
) -> list[Requests]:
    """The traffic of every route since a time (seconds), oldest first."""
    parameters = {"since": max(0, since), "bin": bin_seconds}
    return REQUESTS.read(store, "requests", parameters, priority=priority)
