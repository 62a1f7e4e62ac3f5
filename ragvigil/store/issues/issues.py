"""Issues, their events, and pairs that look alike: `issues`, `issue_events`, `issue_pairs`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from ragvigil.model.issue import Issue, IssueEvent, IssuePair, Membership, PairVerdict
from ragvigil.store.engine.batch import Batch, token_of
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.table import table
from ragvigil.store.issues import failing_rows, memberships
from ragvigil.store.issues.failing_rows import KeptFailure

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

ISSUES = table("issues", Issue, columns={"state_unix_nano": "state_entered"})
EVENTS = table("issue_events", IssueEvent)
PAIRS = table("issue_pairs", IssuePair)

NOBODY = "nobody"
"""As an owner: issues that nobody has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueFilter:
    """Which issues; an empty filter is none. `text` is in the name, or is the id.

    `since` and `until`, in seconds: their last member failed from then on, their first before.
    """

    issue_id: str = ""
    service: str = ""
    environment: str = ""
    family: str = ""
    states: tuple[str, ...] = ()
    route: str = ""
    text: str = ""
    owner: str = ""
    since: int = 0
    until: int = 0
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
    """A batch that stores these.

    Issues are written last, so that a crash leaves no issue without members: a membership of an
    issue that is not stored counts as none (`failures_find.sql`).
    """
    stamps = {"written": written_unix_nano, "replica": replica, "epoch": epoch}
    tables = {
        "failures": failing_rows.rows(failures, **stamps),
        "memberships": memberships.rows(
            ((kept.failure, kept.received, membership) for kept, membership in members), **stamps
        ),
        "issue_events": EVENTS.rows(events, **stamps),
        "issue_pairs": PAIRS.rows(pairs, **stamps),
        "issues": ISSUES.rows(issues, **stamps),
    }
    rows = {name: some for name, some in tables.items() if some}
    return Batch(rows=rows, token=token_of("issues", *rows.items()))


def find(store: Store, filter_: IssueFilter, *, priority: Priority = Priority.PAGE) -> list[Issue]:
    """Issues that match, newest member first; merged ones by id only. Raises as `Store.read`."""
    parameters = asdict(filter_) | {"states": list(filter_.states)}
    return ISSUES.read(store, "issues_find", parameters, priority=priority)


def events(store: Store, issue_id: str) -> list[IssueEvent]:
    """What was done to one issue, oldest first."""
    return EVENTS.read(store, "issue_events_of", {"issue_id": issue_id})


def pairs(
    store: Store,
    *,
    verdict: PairVerdict | None = None,
    issue_id: str = "",
    priority: Priority = Priority.PAGE,
) -> list[IssuePair]:
    """Pairs of issues, the most alike first; of one verdict or one issue if given."""
    parameters = {"verdict": verdict.value if verdict else "", "issue_id": issue_id}
    return PAIRS.read(store, "issue_pairs_find", parameters, priority=priority)
