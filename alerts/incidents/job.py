"""The job of incidents: folds findings every few seconds, keeps what comes of it, takes verbs.

Everything is rebuilt from the store at start. Memory moves on only after the store has what it
holds: a crash or a store that is away leads to the same fold again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING

from alerts.incidents.fold import fold
from alerts.incidents.message import Message, message
from alerts.incidents.settings import IncidentSettings
from alerts.incidents.verbs import Act, UnknownIncident, act
from alerts.signals.catalogue import Accepted, accepted_key
from ragvigil.model.deploy import Deploy
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.incident import Incident, IncidentEvent, IncidentState, Verb
from ragvigil.model.notice import MARK, ChangeKind, Notice
from ragvigil.store.engine.priority import Priority
from ragvigil.store.watch import deploys, notices
from ragvigil.store.watch import findings as stored_findings
from ragvigil.store.watch import incidents as stored
from ragvigil.store.watch.incidents import IncidentFilter, PageCounts

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

NANOS = 10**9
MEMORY_SECONDS = 48 * 3600
"""How long resolved incidents and changes are kept in mind: longer than an audit speaks."""
DEPLOYS_SECONDS = 60
REWRITE_SECONDS = 60
"""How often a finding is written of which only the numbers are new."""
KINDS = {"prompt": ChangeKind.PROMPT, "index": ChangeKind.INDEX, "model": ChangeKind.LLM_MODEL}


class IncidentJob:
    """Incidents of this daemon; safe to use from any thread. `told` hears what people said.

    Raises StoreError where the store cannot be read or does not take what is written.
    """

    def __init__(
        self,
        store: Store,
        settings: IncidentSettings,
        external_url: str = "",
        clock: Callable[[], float] = time.time,
        told: Callable[[Incident], None] = lambda _: None,
    ) -> None:
        self._store, self._settings, self._url, self._clock = store, settings, external_url, clock
        self._told = told
        self._lock = RLock()
        self._deploys: tuple[Deploy, ...] = ()
        self._deploys_read = 0.0
        since = max(0, int(clock() - MEMORY_SECONDS))
        self._changes = {one.notice_id: one for one in notices.find(store, since=since)}
        kept = stored.find(store, IncidentFilter(since=since), priority=Priority.TICK)
        self._incidents = {one.incident_id: one for one in kept}
        expected = stored.find(store, IncidentFilter(expected=True), priority=Priority.TICK)
        self._expected = {one.incident_id: one for one in expected}
        self._written = {_key(name, one): one for name, one in _held(kept)}
        self._loose = stored_findings.loose(store)

    def run(
        self, now: float, findings: Iterable[Finding], noticed: Iterable[Notice]
    ) -> tuple[Incident, ...]:
        """Folds findings and changes; the incidents that are not resolved, oldest first.

        `findings` are all that last, and those that have just cleared; `noticed` may be the new
        ones alone: they are kept in mind for two days. `now` is in seconds since the epoch.
        """
        with self._lock:
            self._remember(now, noticed)
            if self._loose:  # they may have cleared since, which alone would open nothing
                self._turn(now, self._fresh_loose(now))
                self._loose = []
            self._turn(now, findings)
            return self.open_incidents()

    def act(
        self, incident_id: str, verb: Verb, actor: str = "", text: str = "", until: float = 0.0
    ) -> Incident:
        """Does what a person says, `until` in seconds since the epoch; the incident afterwards.

        Raises UnknownIncident, or VerbDoesNotFit where the incident does not take the verb.
        """
        with self._lock:
            now = self._clock()
            before = self.find(incident_id)
            done = Act(verb=verb, now=now, actor=actor, text=text, until=until)
            after, event = act(before, done)
            self._write(now, [after], [event])
            self._incidents[incident_id] = after
            self._expected.pop(incident_id, None)
            if after.is_expected:
                self._expected[incident_id] = after
        self._told(after)
        return after

    def find(self, incident_id: str) -> Incident:
        """The incident of this id, however old. Raises UnknownIncident."""
        with self._lock:
            if incident_id in self._incidents:
                return self._incidents[incident_id]
        found = (
            stored.find(self._store, IncidentFilter(incident_id=incident_id)) if incident_id else []
        )
        if not found:
            raise UnknownIncident(f"there is no incident {incident_id}")
        return found[0]

    def open_incidents(self) -> tuple[Incident, ...]:
        """The incidents that are not resolved, oldest first."""
        with self._lock:
            kept = [
                one for one in self._incidents.values() if one.state is not IncidentState.RESOLVED
            ]
        return tuple(sorted(kept, key=lambda one: (one.opened_unix_nano, one.incident_id)))

    def accepted(self) -> Accepted:
        """Levels that people expect: those of findings that lasted when they said so."""
        with self._lock:
            expected = sorted(self._expected.values(), key=lambda one: one.resolved_unix_nano)
        return {
            accepted_key(one): one.value
            for incident in expected
            for one in incident.findings
            if one.value is not None
            and one.kind in (FindingKind.BROKEN, FindingKind.MOVED)
            and (one.is_open or one.cleared_unix_nano >= incident.resolved_unix_nano)
        }

    def open_findings(self) -> tuple[Finding, ...]:
        """Findings that last: with them the signals go on after a start."""
        with self._lock:
            held = [one for _, one in _held(self._incidents.values())]
            return tuple(one for one in (*held, *self._loose) if one.is_open)

    def message(self, incident: Incident) -> Message:
        """What is told of an incident."""
        return message(incident, self._settings, self._url)

    def changes(self) -> tuple[Notice, ...]:
        """Notices and deploy marks of the last two days, the newest first."""
        with self._lock:
            known = list(self._changes.values())
        return tuple(sorted(known, key=lambda one: (-one.since_unix_nano, one.notice_id)))

    @property
    def deploys(self) -> tuple[Deploy, ...]:
        """The deploy marks of the last two days, the newest first."""
        return self._deploys

    def pages(self) -> PageCounts:
        """Pages so far, and how many of those that people judged were false."""
        return stored.pages(self._store)

    def _turn(self, now: float, findings: Iterable[Finding]) -> None:
        changes = self._changes.values()
        folded, events = fold(self._incidents.values(), findings, changes, now, self._settings)
        self._write(now, folded, events)
        horizon = (now - MEMORY_SECONDS) * NANOS
        self._incidents = {one.incident_id: one for one in folded if _is_kept(one, horizon)}

    def _remember(self, now: float, noticed: Iterable[Notice]) -> None:
        if now - self._deploys_read >= DEPLOYS_SECONDS:
            since = max(0, int(now - MEMORY_SECONDS))
            self._deploys = tuple(deploys.marks(self._store, since=since))
            self._changes |= {one.notice_id: one for one in map(_as_change, self._deploys)}
            self._deploys_read = now
        self._changes |= {one.notice_id: one for one in noticed}
        horizon = (now - MEMORY_SECONDS) * NANOS
        self._changes = {
            name: one for name, one in self._changes.items() if one.noticed_unix_nano >= horizon
        }

    def _fresh_loose(self, now: float) -> list[Finding]:
        horizon = (now - MEMORY_SECONDS) * NANOS
        return [one for one in self._loose if one.seen_unix_nano >= horizon]

    def _write(
        self, now: float, incidents: Collection[Incident], events: Collection[IncidentEvent]
    ) -> None:
        """Stores what is new; returns when it is durable."""
        changed = [one for one in incidents if self._is_new(one)]
        newer = [(name, one) for name, one in _held(incidents) if self._is_newer(name, one)]
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
        self._written |= {_key(name, one): one for name, one in newer}
        known = {_key(name, one) for name, one in _held(self._incidents.values())}
        known |= {_key(name, one) for name, one in _held(incidents)}
        self._written = {key: one for key, one in self._written.items() if key in known}

    def _is_new(self, incident: Incident) -> bool:
        known = self._incidents.get(incident.incident_id)
        return known is None or replace(known, findings=()) != replace(incident, findings=())

    def _is_newer(self, name: str, finding: Finding) -> bool:
        """Whether a finding is to be written; new numbers alone only once in a while."""
        known = self._written.get(_key(name, finding))
        if known is None or known.is_open != finding.is_open or known.routes != finding.routes:
            return True
        passed = finding.seen_unix_nano - known.seen_unix_nano
        return finding != known and passed >= REWRITE_SECONDS * NANOS


def _held(incidents: Iterable[Incident]) -> list[tuple[str, Finding]]:
    return [(incident.incident_id, one) for incident in incidents for one in incident.findings]


def _key(incident_id: str, finding: Finding) -> tuple[str, str]:
    return (incident_id, finding.finding_id)


def _is_kept(incident: Incident, horizon: float) -> bool:
    """Whether an incident stays in mind: unresolved, fresh, or with something that lasts."""
    is_over = incident.state is IncidentState.RESOLVED and incident.resolved_unix_nano < horizon
    return not is_over or any(one.is_open for one in incident.findings)


def _as_change(mark: Deploy) -> Notice:
    """A deploy mark as a change of all routes of its service."""
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
