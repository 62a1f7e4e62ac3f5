"""Reads from the store what the root-cause agent may see."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

from clustering.issues.names import telling
from clustering.rca.reader import Change, Form, Hour
from ragvigil.model.incident import Incident
from ragvigil.model.issue import ComparedRecord, Failure, Issue
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import causes, memberships
from ragvigil.store.issues import failing_rows as failed
from ragvigil.store.records import records
from ragvigil.store.records.record_filter import RecordFilter
from ragvigil.store.watch import deploys, incidents, notices
from ragvigil.store.watch.incidents import IncidentFilter

Read = TypeVar("Read")
MOST_MEMBERS = 2000
MOST_FOUND = 200
NANOS = 10**9


class StoreIssueReader:
    """Reads records of one issue's service; `issue_ids` are its own and those merged into it.

    Each query runs once and its rows are kept: a run is short.
    """

    def __init__(self, store: Store, issue: Issue, issue_ids: Collection[str]) -> None:
        self._store, self._issue, self._ids = store, issue, tuple(issue_ids)
        self._since = causes.since(issue)
        self._read: dict[object, Any] = {}

    def members(self) -> Sequence[Failure]:
        """The newest 2,000 of the last week, newest first."""
        filter_ = failed.FailureFilter(
            issue_ids=self._ids,
            since=self._since,
            newest_first=True,
            limit=MOST_MEMBERS,
        )
        return self._once(
            "members", lambda: [row.failure for row in failed.find(self._store, filter_)]
        )

    def failing(self) -> Sequence[ComparedRecord]:
        """A random sample of at most 500."""
        return self._once("failing", lambda: causes.failing(self._store, self._issue, self._ids))

    def passing(self) -> Sequence[ComparedRecord]:
        """A random sample of at most 500; records that the issue's rubric has scored come first."""
        return self._once("passing", lambda: causes.passing(self._store, self._issue))

    def hours(self) -> Sequence[Hour]:
        """By hour, summed over the issue's routes."""
        return self._once("hours", self._hours)

    def changes(self) -> Sequence[Change]:
        """Marked deploys and noticed changes of the issue's environment, or of any."""
        return self._once("changes", self._changes)

    def incident(self) -> Incident | None:
        """As it is stored, with its findings and suspects."""
        return self._once("incident", self._incident)

    def trace(self, trace_id: str) -> Sequence[Form]:
        """The trace's records, of any service: the caller filters them."""
        page = self._once(("trace", trace_id), lambda: records.trace(self._store, trace_id))
        return page["records"] if page else []

    def spans(self, trace_id: str) -> Sequence[Form]:
        """Columns as in `otel_traces`."""
        return self._once(("spans", trace_id), lambda: records.spans(self._store, trace_id))

    def search(self, *, route: str, rubric: str, label: str) -> Sequence[Form]:
        """The newest 200 since the day before the first member."""
        filter_ = RecordFilter(
            service=self._issue.service,
            environment=self._issue.environment,
            route=route,
            rubric=rubric,
            label=label,
            since=self._since,
            limit=MOST_FOUND,
        )
        return records.find(self._store, filter_)

    def _hours(self) -> list[Hour]:
        counts: dict[int, int] = {}
        for row in memberships.requests(self._store, self._since):
            is_ours = (row.service, row.environment) == (
                self._issue.service,
                self._issue.environment,
            )
            if is_ours and row.route in self._issue.routes:
                counts[row.start] = counts.get(row.start, 0) + row.requests
        return [Hour(start_unix_nano=at * NANOS, requests=counts[at]) for at in sorted(counts)]

    def _changes(self) -> list[Change]:
        marks = deploys.marks(self._store, since=self._since)
        marked = [
            Change(
                time_unix_nano=mark.time_unix_nano,
                kind=mark.kind,
                text=f"{mark.version} {mark.description}".strip(),
            )
            for mark in marks
            if mark.service == self._issue.service and self._is_here(mark.environment)
        ]
        noticed = [
            Change(
                time_unix_nano=notice.since_unix_nano,
                kind=notice.kind,
                text=" -> ".join(filter(None, (notice.before, notice.after))),
                route=notice.route,
            )
            for notice in notices.find(self._store, service=self._issue.service, since=self._since)
            if self._is_here(notice.environment)
        ]
        return sorted(
            [*marked, *noticed],
            key=lambda change: (change.time_unix_nano, change.kind, change.route),
        )

    def _incident(self) -> Incident | None:
        if not self._issue.incident_id:  # an empty filter would find any
            return None
        filter_ = IncidentFilter(incident_id=self._issue.incident_id)
        return next(iter(incidents.find(self._store, filter_)), None)

    def _is_here(self, environment: str) -> bool:
        return environment in ("", self._issue.environment)

    def _once(self, name: object, read: Callable[[], Read]) -> Read:
        """The result of `read`, kept under this name."""
        if name not in self._read:
            self._read[name] = read()
        value: Read = self._read[name]
        return value


def terms_of(store: Store, issue: Issue, issue_ids: Collection[str]) -> tuple[str, ...]:
    """Phrases that the reasons of its members use and other failing records of its layer do not.

    There are none where nothing else fails: then any word would be one.
    """
    rows = failed.find(
        store,
        failed.FailureFilter(
            service=issue.service,
            environment=issue.environment,
            family=issue.family,
            since=causes.since(issue),
            newest_first=True,
            limit=MOST_MEMBERS,
        ),
    )
    reasons: dict[bool, list[str]] = {True: [], False: []}
    for row in rows:
        is_ours = row.membership is not None and row.membership.issue_id in issue_ids
        reasons[is_ours].append(row.masked)
    return telling(reasons[True], reasons[False]) if reasons[False] else ()
