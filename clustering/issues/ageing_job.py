"""What time does to issues: their hours against the past, and whether a resolved one is back."""

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
"""A release is as old as its first record of so many days before a resolution."""
MOST_RETURNED = 1000
"""Members of a resolved issue that are looked at for their release."""


class AgeingJob:
    """One duty of the job: `run` says what changed. The hours are read once each hour."""

    def __init__(self, store: Store, baseline: FailureBaseline) -> None:
        self._store, self._baseline = store, baseline
        self._hour = 0
        self._hours: dict[str, tuple[Hour, ...]] = {}
        self._looked: set[str] = set()

    def run(
        self, now: float, issues: Iterable[Issue], grown: Collection[str]
    ) -> tuple[list[Issue], list[IssueEvent]]:
        """Issues that changed and why, after those in `grown` got members. Raises StoreError."""
        known = [issue for issue in issues if not issue.merged_into]
        if int(now // HOUR) != self._hour:
            self._hours = self._read_hours(now, known)
            self._hour = int(now // HOUR)
        changed: list[Issue] = []
        events: list[IssueEvent] = []
        for issue in known:
            after, told = aged(issue, now, self._pace(issue, grown))
            if told:
                changed.append(after)
                events += told
        return changed, events

    def _pace(self, issue: Issue, grown: Collection[str]) -> Pace:
        """That of a resolved issue is only of interest when it grew, or was never looked at."""
        if issue.state is not IssueState.RESOLVED:
            return Pace(hours=self._hours.get(issue.issue_id, ()))
        if issue.issue_id in self._looked and issue.issue_id not in grown:
            return Pace()
        self._looked.add(issue.issue_id)
        return self._returned(issue)

    def _returned(self, issue: Issue) -> Pace:
        since = issue.resolved_unix_nano // NANOS
        wanted = failed.FailureFilter(
            issue_ids=(issue.issue_id,), since=since, newest_first=True, limit=MOST_RETURNED
        )
        found = failed.find(self._store, wanted, priority=Priority.TICK)
        seen = versions.first_seen(
            self._store, issue.service, issue.environment, since - VERSIONS_DAYS * DAY
        )
        first = FirstSeen(
            service_versions=seen["service_version"], index_epochs=seen["index_epoch"]
        )
        back = [row.failure for row in found if is_from_later_release(row.failure, issue, first)]
        explained = self._baseline.explained(back[0], since) if back else 0.0
        return Pace(returned=len(back), background=explained)

    def _read_hours(self, now: float, issues: Iterable[Issue]) -> dict[str, tuple[Hour, ...]]:
        """Full hours of each issue up to now, from the first in which its service was heard."""
        end = int(now // HOUR) * HOUR
        since = end - (PAST_HOURS + 1) * HOUR
        requests: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
        for heard in memberships.requests(self._store, since, priority=Priority.TICK):
            requests[heard.service, heard.environment][heard.start] += heard.requests
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
