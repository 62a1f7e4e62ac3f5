"""The job of incidents: folds findings every few seconds, stores the incidents, applies verbs.

Everything is rebuilt from the store at start. Memory changes only after the store has accepted the
rows: after a crash, or while the store is away, the same fold is made again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from alerts.incidents.fold import fold
from alerts.incidents.message import Message, message
from alerts.incidents.settings import IncidentSettings
from alerts.incidents.suspects import EARLY
from alerts.incidents.verbs import Action, UnknownIncident, act
from alerts.signals.catalogue import Accepted, accepted_key
from alerts.verdict.evidence import NONE_HELD
from ragvigil.model.audit import Audit
from ragvigil.model.deploy import Deploy
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.incident import Incident, IncidentEvent, IncidentState, Verb
from ragvigil.model.notice import MARK, ChangeKind, Notice
from ragvigil.store.engine.priority import Priority
from ragvigil.store.watch import deploys, notices, signals
from ragvigil.store.watch import findings as stored_findings
from ragvigil.store.watch import incidents as stored
from ragvigil.store.watch.incidents import IncidentFilter, PageCounts

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

NANOS = 10**9
MEMORY_SECONDS = 48 * 3600
"""Seconds that resolved incidents and changes stay in memory, by default twice `audit_hours`."""
DEPLOYS_SECONDS = 60
"""Seconds between two reads of the deploy marks."""
REWRITE_SECONDS = 60
"""Seconds between two rows of a finding of which only the numbers changed."""
KINDS = {"prompt": ChangeKind.PROMPT, "index": ChangeKind.INDEX, "model": ChangeKind.LLM_MODEL}


class IncidentJob:
    """The incidents of this daemon; safe to use from any thread.

    A fold and a verb hold the lock until the store has their rows. Reads take none, so that a page
    does not wait for a write: incidents are frozen, and each change of the dicts is one step.
    `on_change` is called, outside the lock, with an incident that a person changed. Methods raise
    StoreError if the store cannot be read or written.
    """

    def __init__(
        self,
        store: Store,
        settings: IncidentSettings,
        external_url: str = "",
        clock: Callable[[], float] = time.time,
        on_change: Callable[[Incident], None] = lambda _: None,
    ) -> None:
        self._store, self._settings, self._url, self._clock = store, settings, external_url, clock
        self._on_change = on_change
        self._lock = Lock()
        self._deploys: tuple[Deploy, ...] = ()
        self._audits: tuple[Audit, ...] = ()
        self._held = NONE_HELD
        self._deploys_read = 0.0
        since = max(0, int(clock() - MEMORY_SECONDS))
        # No page's priority: that does not wait for a server whose tables are still being made.
        noticed = notices.find(store, since=since, priority=Priority.TICK)
        self._changes = {notice.notice_id: notice for notice in noticed}
        lasting = IncidentFilter(since=since, lasting=True)
        recent = stored.find(store, lasting, priority=Priority.TICK)
        self._incidents = {incident.incident_id: incident for incident in recent}
        expected = stored.find(store, IncidentFilter(expected=True), priority=Priority.TICK)
        self._expected = {incident.incident_id: incident for incident in expected}
        self._written = {_key(name, finding): finding for name, finding in _assigned(recent)}
        self._unassigned = stored_findings.loose(store)
        self._from_start: dict[tuple[str, int], bool] = {}

    def run(
        self,
        now: float,
        findings: Iterable[Finding],
        noticed: Iterable[Notice],
        audits: Iterable[Audit] = (),
        held: Mapping[str, Sequence[str]] = NONE_HELD,
    ) -> tuple[Incident, ...]:
        """Folds findings and changes; returns the incidents that are not resolved, oldest first.

        `findings` are all that last, and those that have just cleared; `noticed` may be only the
        new changes, as earlier ones are kept for two days. `audits` are those of the last days:
        what they measured tells the layer, and so does what `held` beside each finding, by id,
        which is not stored. `now` is in seconds since the epoch.
        """
        with self._lock:
            self._audits, self._held = tuple(audits), held
            self._remember(now, noticed)
            # Findings of an earlier process that no incident has: folded first and as they were, as
            # they may have cleared since, and a cleared finding opens no incident.
            if self._unassigned:
                self._fold(now, self._recent_unassigned(now))
                self._unassigned = []
            self._fold(now, findings)
            return self.open_incidents()

    def act(
        self,
        incident_id: str,
        verb: Verb,
        actor: str = "",
        text: str = "",
        until: float = 0.0,
        name: str = "",
    ) -> Incident:
        """Applies a person's verb and returns the incident; `until` in seconds since the epoch.

        `name` is who has it after ASSIGN.

        Raises UnknownIncident, or VerbDoesNotFit if the incident's state does not allow the verb.
        """
        with self._lock:
            now = self._clock()
            before = self.find(incident_id)
            done = Action(verb=verb, now=now, actor=actor, text=text, until=until, name=name)
            after, event = act(before, done)
            self._write(now, [after], [event])
            self._incidents[incident_id] = after
            self._expected.pop(incident_id, None)
            if after.is_expected:
                self._expected[incident_id] = after
        self._on_change(after)
        return after

    def find(self, incident_id: str) -> Incident:
        """Finds an incident by its id, however old it is. Raises UnknownIncident."""
        if (known := self._incidents.get(incident_id)) is not None:
            return known
        matches = (
            stored.find(self._store, IncidentFilter(incident_id=incident_id)) if incident_id else []
        )
        if not matches:
            raise UnknownIncident(f"there is no incident {incident_id}")
        return matches[0]

    def open_incidents(self) -> tuple[Incident, ...]:
        """The incidents that are not resolved, oldest first."""
        unresolved = [
            incident
            for incident in tuple(self._incidents.values())
            if incident.state is not IncidentState.RESOLVED
        ]
        return tuple(
            sorted(
                unresolved, key=lambda incident: (incident.opened_unix_nano, incident.incident_id)
            )
        )

    def accepted(self) -> Accepted:
        """Levels that people accepted: those of findings open when an incident became expected."""
        with self._lock:
            # Ascending, so that the latest decision on a signal wins.
            expected = sorted(
                self._expected.values(), key=lambda incident: incident.resolved_unix_nano
            )
        return {
            accepted_key(finding): finding.value
            for incident in expected
            for finding in incident.findings
            if finding.value is not None
            and finding.kind in (FindingKind.BROKEN, FindingKind.LIMIT, FindingKind.MOVED)
            and (finding.is_open or finding.cleared_unix_nano >= incident.resolved_unix_nano)
        }

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings that are open, and those of the last two days."""
        with self._lock:
            assigned = [finding for _, finding in _assigned(self._incidents.values())]
            return (*assigned, *self._unassigned)

    def open_findings(self) -> tuple[Finding, ...]:
        """The findings that are open: the detectors go on with them after a start."""
        return tuple(finding for finding in self.findings if finding.is_open)

    def message(self, incident: Incident) -> Message:
        """The message of an incident."""
        key = (incident.incident_id, incident.since_unix_nano)
        is_from_start = self._from_start.get(key, False)
        return message(incident, self._settings, self._url, is_from_start=is_from_start)

    def changes(self) -> tuple[Notice, ...]:
        """Notices and deploy marks of the last two days, the newest first."""
        known = list(self._changes.values())
        return tuple(sorted(known, key=lambda notice: (-notice.since_unix_nano, notice.notice_id)))

    @property
    def deploys(self) -> tuple[Deploy, ...]:
        """The deploy marks of the last two days, the newest first."""
        return self._deploys

    def pages(self) -> PageCounts:
        """Counts the pages, and those that people judged and called false."""
        return stored.pages(self._store)

    def _fold(self, now: float, findings: Iterable[Finding]) -> None:
        changes = self._changes.values()
        folded, events = fold(
            self._incidents.values(),
            findings,
            changes,
            now,
            self._settings,
            self._audits,
            self._held,
        )
        folded = tuple(self._without_erased(incident) for incident in folded)
        self._write(now, folded, events)
        horizon = (now - MEMORY_SECONDS) * NANOS
        self._incidents = {
            incident.incident_id: incident for incident in folded if _is_kept(incident, horizon)
        }
        self._date(folded)

    def _without_erased(self, incident: Incident) -> Incident:
        """The incident without the names of erased traces, which detectors may still hold."""
        is_erased = self._store.erased.has_trace
        if not any(is_erased(trace) for finding in incident.findings for trace in finding.traces):
            return incident
        findings = tuple(
            replace(finding, traces=tuple(t for t in finding.traces if not is_erased(t)))
            for finding in incident.findings
        )
        return replace(incident, findings=findings)

    def _date(self, incidents: Iterable[Incident]) -> None:
        """Finds out which incidents were there from the beginning of what is stored."""
        known, self._from_start = self._from_start, {}
        for incident in incidents:
            key = (incident.incident_id, incident.since_unix_nano)
            self._from_start[key] = known[key] if key in known else self._is_from_start(incident)

    def _is_from_start(self, incident: Incident) -> bool:
        begins = signals.first_minute(
            self._store, service=incident.service, environment=incident.environment
        )
        return begins >= (incident.since_unix_nano - EARLY) // NANOS

    def _remember(self, now: float, noticed: Iterable[Notice]) -> None:
        if abs(now - self._deploys_read) >= DEPLOYS_SECONDS:  # a clock may be put back
            since = max(0, int(now - MEMORY_SECONDS))
            self._deploys = tuple(deploys.marks(self._store, since=since))
            self._changes |= {change.notice_id: change for change in map(_as_change, self._deploys)}
            self._deploys_read = now
        self._changes |= {change.notice_id: change for change in noticed}
        horizon = (now - MEMORY_SECONDS) * NANOS
        self._changes = {
            name: change
            for name, change in self._changes.items()
            if change.noticed_unix_nano >= horizon
        }

    def _recent_unassigned(self, now: float) -> list[Finding]:
        horizon = (now - MEMORY_SECONDS) * NANOS
        return [finding for finding in self._unassigned if finding.seen_unix_nano >= horizon]

    def _write(
        self, now: float, incidents: Collection[Incident], events: Collection[IncidentEvent]
    ) -> None:
        """Stores what is new; returns once it is durable."""
        changed = [incident for incident in incidents if self._is_new(incident)]
        newer = [
            (name, finding)
            for name, finding in _assigned(incidents)
            if self._is_newer(name, finding)
        ]
        if not (changed or newer or events):
            return
        self._store.write(
            stored.batch(
                changed,
                newer,
                events,
                int(now * NANOS),
                replica=self._store.replica,
                epoch=self._store.epoch,
            )
        )
        self._written |= {_key(name, finding): finding for name, finding in newer}
        keys = {_key(name, finding) for name, finding in _assigned(self._incidents.values())}
        keys |= {_key(name, finding) for name, finding in _assigned(incidents)}
        self._written = {key: finding for key, finding in self._written.items() if key in keys}

    def _is_new(self, incident: Incident) -> bool:
        stored_incident = self._incidents.get(incident.incident_id)
        return stored_incident is None or replace(stored_incident, findings=()) != replace(
            incident, findings=()
        )

    def _is_newer(self, name: str, finding: Finding) -> bool:
        """Whether a finding is to be written; for new numbers alone every REWRITE_SECONDS."""
        stored_finding = self._written.get(_key(name, finding))
        if (
            stored_finding is None
            or stored_finding.is_open != finding.is_open
            or stored_finding.routes != finding.routes
        ):
            return True
        passed = finding.seen_unix_nano - stored_finding.seen_unix_nano
        return finding != stored_finding and passed >= REWRITE_SECONDS * NANOS


def _assigned(incidents: Iterable[Incident]) -> list[tuple[str, Finding]]:
    return [
        (incident.incident_id, finding) for incident in incidents for finding in incident.findings
    ]


def _key(incident_id: str, finding: Finding) -> tuple[str, str]:
    return (incident_id, finding.finding_id)


def _is_kept(incident: Incident, horizon: float) -> bool:
    """Whether an incident stays in memory: unresolved, recent, or with an open finding."""
    is_over = incident.state is IncidentState.RESOLVED and incident.resolved_unix_nano < horizon
    return not is_over or any(finding.is_open for finding in incident.findings)


def _as_change(mark: Deploy) -> Notice:
    """Makes a deploy mark a change of all routes of its service."""
    return Notice(
        notice_id=f"{MARK}{mark.deploy_id}",
        kind=KINDS.get(mark.kind, ChangeKind.RELEASE),
        service=mark.service,
        environment=mark.environment,
        route="",
        since_unix_nano=mark.time_unix_nano,
        noticed_unix_nano=mark.time_unix_nano,
        requests=0,
        after=mark.version or mark.description,
    )
