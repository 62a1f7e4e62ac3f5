"""Incidents: findings of one cause, folded together, from the first to the last. Pure.

Findings of one service and environment are one incident where their onsets lie close together or
where they follow one change, whatever the number of rubrics and routes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from alerts.incidents.lasting import confirmed, is_stale_audit, is_way_back, refreshed
from alerts.incidents.settings import IncidentSettings
from alerts.incidents.settling import Moment, is_judged_none, named, settled
from alerts.incidents.suspects import MINUTE, Changes, is_one_change, share_a_route
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.identity import identity
from ragvigil.model.incident import Incident, IncidentEvent, IncidentState, Severity, Verb
from ragvigil.model.notice import Notice

NANOS = 10**9
Folded = tuple[tuple[Incident, ...], tuple[IncidentEvent, ...]]


def fold(
    incidents: Iterable[Incident],
    findings: Iterable[Finding],
    notices: Iterable[Notice],
    now: float,
    settings: IncidentSettings,
) -> Folded:
    """All incidents after these findings, and what happened to them; `now` in seconds.

    `findings` are all that last now, and those that have just cleared; `notices` the changes of
    the last hours. The same call again with its own result changes nothing and tells nothing, and
    the order of findings and notices does not matter.
    """
    turn = FoldPass(incidents, notices, int(now * NANOS), settings)
    turn.take(findings)
    turn.settle()
    ordered = sorted(
        turn.incidents.values(), key=lambda one: (one.opened_unix_nano, one.incident_id)
    )
    return tuple(ordered), tuple(turn.events)


class FoldPass:
    """One call of `fold`."""

    def __init__(
        self,
        incidents: Iterable[Incident],
        notices: Iterable[Notice],
        now: int,
        settings: IncidentSettings,
    ) -> None:
        self.incidents = {one.incident_id: one for one in incidents}
        self.events: list[IncidentEvent] = []
        self._before = frozenset(self.incidents)
        known = [*notices, *(one for held in self.incidents.values() for one in held.suspects)]
        known.sort(key=lambda one: (one.noticed_unix_nano, repr(one)))
        unique = {one.notice_id: one for one in known}
        changes = Changes([unique[name] for name in sorted(unique)], settings)
        self._moment = Moment(now=now, changes=changes, settings=settings)

    def take(self, findings: Iterable[Finding]) -> None:
        """Puts every finding into the incident it belongs to; opens those that are missing."""
        seen = _newest(findings)
        held = self._held(seen)
        loose = [one for name, one in seen.items() if one.is_open and name not in held]
        fresh = [confirmed(one, self._moment.now) for one in loose if not self._is_stale(one)]
        waiting = sorted(fresh, key=_onset)
        while waiting:
            left = [one for one in waiting if not self._join(one)]
            if len(left) == len(waiting):
                self._open(left.pop(0))
            waiting = left

    def settle(self) -> None:
        """Names causes and suspects, ends what is over, wakes what must not sleep."""
        for name, incident in sorted(self.incidents.items()):
            is_new = name not in self._before
            self.incidents[name] = settled(incident, self._moment, self._tell, is_new=is_new)

    def _held(self, seen: dict[str, Finding]) -> set[str]:
        """Brings the findings of incidents up to date; the ids of those that belong somewhere."""
        held: set[str] = set()
        newest_first = sorted(self.incidents.values(), key=_opened, reverse=True)
        for incident in newest_first:
            mine = {
                one.finding_id
                for one in incident.findings
                if one.finding_id not in held and self._keeps(incident, one, seen)
            }
            held |= mine
            own = {name: seen[name] for name in mine if name in seen}
            self._update(incident, own)
        return held

    def _keeps(self, incident: Incident, one: Finding, seen: dict[str, Finding]) -> bool:
        """Whether a finding that comes again is still this incident's."""
        newer = seen.get(one.finding_id)
        if newer is None or incident.state is not IncidentState.RESOLVED or one.is_open:
            return True
        return one.kind is FindingKind.AUDIT or self._moment.may_reopen(incident)

    def _update(self, incident: Incident, seen: dict[str, Finding]) -> None:
        findings = refreshed(incident, seen, self._moment.now, self._moment.settings)
        changed = replace(incident, findings=findings)
        was = self._moment.lasting(incident)
        self.incidents[incident.incident_id] = changed
        left = self._moment.lasting(changed)
        if left and not was:
            self._reopen(changed, left[0])

    def _is_stale(self, finding: Finding) -> bool:
        return is_stale_audit(finding, self._moment.now, self._moment.settings)

    def _reopen(self, incident: Incident, finding: Finding) -> None:
        """Opens a resolved incident again, unless a person said that it is none."""
        if incident.state is not IncidentState.RESOLVED or is_judged_none(incident):
            return
        self.incidents[incident.incident_id] = replace(
            incident, state=IncidentState.OPEN, resolved_unix_nano=0
        )
        self._tell(incident, Verb.OPENED, f"again: {named(finding)}")

    def _join(self, finding: Finding) -> bool:
        """Whether there is an incident for it, which then has it."""
        fits = [
            (rank, _opened(one), one)
            for one in self.incidents.values()
            if (rank := self._fit(finding, one)) is not None
        ]
        if not fits:
            return False
        incident = min(fits, key=lambda fit: fit[:2])[2]
        kept = [one for one in incident.findings if one.finding_id != finding.finding_id]
        joined = replace(incident, findings=tuple(sorted((*kept, finding), key=_onset)))
        self.incidents[incident.incident_id] = joined
        self._tell(joined, Verb.JOINED, named(finding))
        if not is_way_back(finding, joined, self._moment.changes):
            self._reopen(joined, finding)
        return True

    def _fit(self, finding: Finding, incident: Incident) -> tuple[int, int] | None:
        """How well it fits: 0 for one change, 1 for one time, 2 for the way back; then the gap."""
        place = (finding.service, finding.environment)
        if place != (incident.service, incident.environment):
            return None
        apart = min(abs(one.since_unix_nano - finding.since_unix_nano) for one in incident.findings)
        if is_way_back(finding, incident, self._moment.changes):
            return (2, apart)
        if incident.state is IncidentState.RESOLVED and not self._moment.may_reopen(incident):
            return None
        if any(_is_same_signal(one, finding) for one in incident.findings):
            return (0, apart)
        if is_judged_none(incident):
            return None
        if self._shares_change(finding, incident):
            return (0, apart)
        own = [
            abs(one.since_unix_nano - finding.since_unix_nano)
            for one in self._moment.worse(incident)
        ]
        near = min(own, default=apart)
        return (1, near) if near <= self._moment.settings.within_minutes * MINUTE else None

    def _shares_change(self, finding: Finding, incident: Incident) -> bool:
        mine = self._moment.changes.anchor(finding)
        return mine is not None and any(
            theirs is not None and is_one_change(mine, theirs, self._moment.settings)
            for one in self._moment.worse(incident)
            for theirs in [self._moment.changes.anchor(one)]
        )

    def _open(self, finding: Finding) -> None:
        name = _incident_id(finding)
        if name in self.incidents:
            name = _incident_id(finding, self._moment.now)
        incident = Incident(
            incident_id=name,
            service=finding.service,
            environment=finding.environment,
            state=IncidentState.OPEN,
            severity=Severity.TICKET,
            opened_unix_nano=self._moment.now,
            since_unix_nano=finding.since_unix_nano,
            findings=(finding,),
        )
        self.incidents[incident.incident_id] = incident
        self._tell(incident, Verb.OPENED, named(finding))

    def _tell(self, incident: Incident, verb: Verb, text: str) -> None:
        self.events.append(
            IncidentEvent(
                incident_id=incident.incident_id,
                time_unix_nano=self._moment.now,
                verb=verb,
                text=text,
            )
        )


def _newest(findings: Iterable[Finding]) -> dict[str, Finding]:
    """One of each id: the newest numbers, the open one where a tie is cleared too."""
    ordered = sorted(findings, key=lambda one: (one.seen_unix_nano, one.is_open, repr(one)))
    return {one.finding_id: one for one in ordered}


def _is_same_signal(first: Finding, second: Finding) -> bool:
    alike = (first.kind, first.signal) == (second.kind, second.signal)
    return alike and share_a_route(first, second)


def _onset(finding: Finding) -> tuple[int, str]:
    return (finding.since_unix_nano, finding.finding_id)


def _opened(incident: Incident) -> tuple[int, str]:
    return (incident.opened_unix_nano, incident.incident_id)


def _incident_id(finding: Finding, again: int = 0) -> str:
    """The same for the same first finding, so that a fold after a crash finds the same incident."""
    place = (finding.service, finding.environment)
    return identity(*place, finding.finding_id, finding.since_unix_nano, again, size=6)
