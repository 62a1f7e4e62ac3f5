"""Ages issues: compares their last hours with the past, and finds resolved ones that are back."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from clustering.issues.forecast import PAST_HOURS, Hour
from clustering.issues.lifecycle import FirstSeen, Pace, aged, is_from_later_release
from ragvigil.model.issue import Issue, IssueEvent, IssueState
from ragvigil.store.engine.priority import Priority
from ragvigil.store.issues import failing_rows as failed
from ragvigil.store.issues import memberships
from ragvigil.store.records import versions

if TYPE_CHECKING:
    from clustering.issues.failure_baseline import FailureBaseline
    from ragvigil.store.engine.store import Store

HOUR, DAY, NANOS = 3600, 86_400, 10**9
VERSIONS_DAYS = 30
"""A release counts from its first record within this many days before a resolution."""
MOST_RETURNED = 1000
"""Newest members of a resolved issue whose releases are compared."""


class AgeingJob:
    """Called each minute; reads the issues' hours from the store once an hour."""

    def __init__(self, store: Store, baseline: FailureBaseline) -> None:
        self._store, self._baseline = store, baseline
        self._hour = 0
        self._hours: dict[str, tuple[Hour, ...]] = {}
        self._checked: set[str] = set()

    def run(
        self, now: float, issues: Iterable[Issue], grown: Collection[str]
    ) -> tuple[list[Issue], list[IssueEvent]]:
        """Issues whose state changes at `now`, and the events; `grown` just got members.

        Raises StoreError.
        """
        known = [issue for issue in issues if not issue.merged_into]
        if int(now // HOUR) != self._hour:
            self._hours = self._read_hours(now, known)
            self._hour = int(now // HOUR)
        changed: list[Issue] = []
        events: list[IssueEvent] = []
        for issue in known:
            after, new_events = aged(issue, now, self._pace(issue, grown))
            if new_events:
                changed.append(after)
                events += new_events
        return changed, events

    def _pace(self, issue: Issue, grown: Collection[str]) -> Pace:
        """A resolved issue's pace is read only after it grew, and once after a start."""
        if issue.state is not IssueState.RESOLVED:
            return Pace(hours=self._hours.get(issue.issue_id, ()), issues=max(1, len(self._hours)))
        if issue.issue_id in self._checked and issue.issue_id not in grown:
            return Pace()
        self._checked.add(issue.issue_id)
        return self._returned(issue)

    def _returned(self, issue: Issue) -> Pace:
        """Members since the resolution that are of a later release."""
        since = issue.resolved_unix_nano // NANOS
        filter_ = failed.FailureFilter(
            issue_ids=(issue.issue_id,), since=since, newest_first=True, limit=MOST_RETURNED
        )
        rows = failed.find(self._store, filter_, priority=Priority.TICK)
        first_seen = versions.first_seen(
            self._store, issue.service, issue.environment, since - VERSIONS_DAYS * DAY
        )
        first = FirstSeen(
            service_versions=first_seen["service_version"], index_epochs=first_seen["index_epoch"]
        )
        back = [row.failure for row in rows if is_from_later_release(row.failure, issue, first)]
        explained = self._baseline.explained(back[0], since) if back else 0.0
        return Pace(returned=len(back), background=explained)

    def _read_hours(self, now: float, issues: Iterable[Issue]) -> dict[str, tuple[Hour, ...]]:
        """Full hours of each issue up to now, from the first in which its service had traffic."""
        end = int(now // HOUR) * HOUR
        since = end - (PAST_HOURS + 1) * HOUR
        requests: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
        for row in memberships.requests(self._store, since, priority=Priority.TICK):
            requests[row.service, row.environment][row.start] += row.requests
        members: dict[str, Counter[int]] = defaultdict(Counter)
        for tally in memberships.tally(self._store, since, priority=Priority.TICK):
            members[tally.issue_id][tally.start] += tally.records
        return {
            issue.issue_id: _hours(
                members[issue.issue_id], requests[issue.service, issue.environment], end
            )
            for issue in issues
        }


def _hours(members: Counter[int], requests: Counter[int], end: int) -> tuple[Hour, ...]:
    first = min(requests, default=end)
    return tuple(
        Hour(members=members[start], requests=requests[start]) for start in range(first, end, HOUR)
    )
