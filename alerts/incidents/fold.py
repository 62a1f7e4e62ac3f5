"""Folds findings of one cause into incidents, from the first finding to the last. Pure.

Findings of one service and environment are one incident if they began with one change, or if their
onsets lie close together, they may have one cause, and they concern a common route. What began
after an incident was resolved belongs to it only if it is the same again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from alerts.incidents.belonging import (
    SharedCause,
    changes_beside,
    is_of_same_audit,
    is_same_signal,
)
from alerts.incidents.lasting import (
    confirm,
    follows_fix,
    is_judged_none,
    is_stale_audit,
    is_way_back,
    only_takes_back,
    refresh,
)
from alerts.incidents.settings import IncidentSettings
from alerts.incidents.settling import (
    Moment,
    exceeds_judged,
    finding_line,
    settle,
)
from alerts.incidents.suspects import MINUTE, Changes
from alerts.verdict.evidence import NONE_HELD, is_blind
from ragvigil.model.audit import Audit
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
    audits: Iterable[Audit] = (),
    held: Mapping[str, Sequence[str]] = NONE_HELD,
) -> Folded:
    """Returns all incidents after these findings, and the events; `now` is in seconds.

    `findings` are all that last now, and those that have just cleared; `notices` are the changes of
    the last hours, `audits` those of the last days; for `held` see `evidence_of`. A fold of its own
    result changes nothing and has no events (so a fold may be repeated after a crash), and the
    order of findings and notices does not matter.
    """
    fold_pass = FoldPass(incidents, notices, int(now * NANOS), settings, audits, held)
    fold_pass.place(findings)
    fold_pass.settle()
    ordered = sorted(
        fold_pass.incidents.values(),
        key=lambda incident: (incident.opened_unix_nano, incident.incident_id),
    )
    return tuple(ordered), tuple(fold_pass.events)


class FoldPass:
    """One call of `fold`: the incidents and events so far."""

    def __init__(
        self,
        incidents: Iterable[Incident],
        notices: Iterable[Notice],
        now: int,
        settings: IncidentSettings,
        audits: Iterable[Audit] = (),
        held: Mapping[str, Sequence[str]] = NONE_HELD,
    ) -> None:
        self.incidents = {incident.incident_id: incident for incident in incidents}
        self.events: list[IncidentEvent] = []
        self._before = frozenset(self.incidents)
        changes_known = [
            *notices,
            *(suspect for incident in self.incidents.values() for suspect in incident.suspects),
        ]
        # The newest row of a change wins; sorted, so that the order of the input does not matter.
        changes_known.sort(key=lambda change: (change.noticed_unix_nano, repr(change)))
        unique = {change.notice_id: change for change in changes_known}
        changes = Changes([unique[name] for name in sorted(unique)], settings)
        self._shared = SharedCause(changes, settings)
        self._moment = Moment(
            now=now,
            changes=changes,
            shared=self._shared,
            settings=settings,
            audits=tuple(audits),
            held=held,
        )

    def place(self, findings: Iterable[Finding]) -> None:
        """Puts every finding into the incident it belongs to; opens incidents for the others."""
        news = _newest(findings)
        assigned = self._assign(news)
        loose = [
            finding for name, finding in news.items() if finding.is_open and name not in assigned
        ]
        fresh = [
            confirm(finding, self._moment.now) for finding in loose if not self._is_no_news(finding)
        ]
        waiting = sorted(fresh, key=_onset)
        # A finding that joins may pull in others by its onset or change: repeat until none joins,
        # then open an incident for the earliest that is left.
        while waiting:
            unjoined = [finding for finding in waiting if not self._join(finding)]
            if len(unjoined) == len(waiting):
                self._open(unjoined.pop(0))
            waiting = unjoined

    def settle(self) -> None:
        """Settles every incident: names its cause and suspects, ends it, or wakes it."""
        changes = {
            name: self._shared.origins(incident.findings)
            for name, incident in self.incidents.items()
        }
        for name, incident in sorted(self.incidents.items()):
            is_new = name not in self._before
            elsewhere = frozenset[str]().union(*(changes[key] for key in changes if key != name))
            self.incidents[name] = settle(
                incident, self._moment, self._record, elsewhere=elsewhere, is_new=is_new
            )

    def _assign(self, news: dict[str, Finding]) -> set[str]:
        """Brings the incidents' findings up to date; returns the ids that belong to an incident."""
        assigned: set[str] = set()
        # Newest first: a finding of two incidents stays with the newer one.
        newest_first = sorted(self.incidents.values(), key=_opened, reverse=True)
        for incident in newest_first:
            own_ids = {
                finding.finding_id
                for finding in incident.findings
                if finding.finding_id not in assigned and self._keeps(incident, finding, news)
            }
            assigned |= own_ids
            own = {name: news[name] for name in own_ids if name in news}
            self._update(incident, own)
        return assigned

    def _keeps(self, incident: Incident, finding: Finding, news: dict[str, Finding]) -> bool:
        """Whether a finding that comes again still belongs to this incident."""
        newer = news.get(finding.finding_id)
        if newer is None or incident.state is not IncidentState.RESOLVED:
            return True
        if newer.is_open and exceeds_judged(newer, incident):
            return False
        is_audit = finding.kind is FindingKind.AUDIT
        return finding.is_open or is_audit or self._moment.may_reopen(incident)

    def _update(self, incident: Incident, news: dict[str, Finding]) -> None:
        findings = refresh(incident, news, self._moment.now, self._moment.settings)
        changed = replace(incident, findings=findings)
        was = self._moment.lasting(incident)
        self.incidents[incident.incident_id] = changed
        open_findings = self._moment.lasting(changed)
        if open_findings and not was:
            self._reopen(changed, open_findings[0])

    def _is_no_news(self, finding: Finding) -> bool:
        """Whether a finding of an audit is old, or nothing is worse than before its change."""
        moment = self._moment
        return is_stale_audit(finding, moment.now, moment.settings) or only_takes_back(
            finding, moment.audits, moment.changes
        )

    def _reopen(self, incident: Incident, finding: Finding) -> None:
        """Opens a resolved incident again, unless a person called it expected or a false page."""
        if incident.state is not IncidentState.RESOLVED or is_judged_none(incident):
            return
        self.incidents[incident.incident_id] = replace(
            incident, state=IncidentState.OPEN, resolved_unix_nano=0
        )
        self._record(incident, Verb.OPENED, f"again: {finding_line(finding)}")

    def _join(self, finding: Finding) -> bool:
        """Adds the finding to the incident that fits best; returns False if none fits."""
        fits = [
            (rank, _opened(candidate), candidate)
            for candidate in self.incidents.values()
            if (rank := self._fit(finding, candidate)) is not None
        ]
        if not fits:
            return False
        incident = min(fits, key=lambda fit: fit[:2])[2]
        others = [other for other in incident.findings if other.finding_id != finding.finding_id]
        joined = replace(incident, findings=tuple(sorted((*others, finding), key=_onset)))
        self.incidents[incident.incident_id] = joined
        self._record(joined, Verb.JOINED, finding_line(finding))
        if finding in self._moment.lasting(self._moment.without_past_audits(joined)):
            self._reopen(joined, finding)
        return True

    def _fit(self, finding: Finding, incident: Incident) -> tuple[int, int] | None:
        """Ranks the fit, then the gap: a change in common goes before all. None if it fits not.

        0 is the same signal or change, 1 the same time and cause on a common route, 2 the same
        signal on another route, 3 a way back. The rank decides first, so that a finding joins the
        incident of its change even where another began at the same time.
        """
        place = (finding.service, finding.environment)
        if place != (incident.service, incident.environment):
            return None
        # What is no longer seen is no trouble of the service, and no part of one.
        if is_blind(finding) is not all(map(is_blind, incident.findings)):
            return None
        apart = self._shared.onset_gap(finding, incident.findings)
        if self._is_way_back(finding, incident):
            return (3, apart)
        if exceeds_judged(finding, incident):
            return None
        worse = self._moment.worse(incident)
        is_same = any(is_same_signal(other, finding) for other in worse)
        if _began_after(finding, incident):
            return (0, apart) if is_same and self._is_relapse(finding, incident) else None
        # What is late to be found reopens an incident only for a while; an audit ends whenever.
        is_late = incident.state is IncidentState.RESOLVED and not self._moment.may_reopen(incident)
        if is_late and finding.kind is not FindingKind.AUDIT:
            return None
        # Of two changes of one kind the later one is not the earlier one again.
        if is_same and not self._shared.is_another_change(finding):
            return (0, apart)
        # A person called it expected or false: other findings do not join it.
        if is_judged_none(incident):
            return None
        worse = changes_beside(finding, worse) or worse
        if is_of_same_audit(finding, worse) or self._shared.by_change(finding, worse):
            return (0, apart)
        if (gap := self._shared.by_time(finding, worse)) is not None:
            return (1, gap)
        gap = self._shared.by_signal(finding, worse)
        return None if gap is None else (2, gap)

    def _is_way_back(self, finding: Finding, incident: Incident) -> bool:
        """Whether it shows recovery: while the incident lasted, or just after a noticed fix."""
        changes = self._moment.changes
        return is_way_back(finding, incident, changes) and (
            not _began_after(finding, incident) or follows_fix(finding, incident, changes)
        )

    def _is_relapse(self, finding: Finding, incident: Incident) -> bool:
        healthy = finding.since_unix_nano - incident.resolved_unix_nano
        return healthy <= self._moment.settings.reopen_minutes * MINUTE

    def _open(self, finding: Finding) -> None:
        name = _incident_id(finding)
        # The same first finding opened an incident before, which is resolved by now.
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
        beside = self._open_beside(incident)
        also = f"; also open: {', '.join(beside)}" if beside else ""
        self.incidents[incident.incident_id] = incident
        self._record(incident, Verb.OPENED, finding_line(finding) + also)

    def _open_beside(self, incident: Incident) -> list[str]:
        """The ids of the service's other incidents that last, the oldest first."""
        return [
            other.incident_id
            for other in sorted(self.incidents.values(), key=_opened)
            if (other.service, other.environment) == (incident.service, incident.environment)
            and other.state is not IncidentState.RESOLVED
        ]

    def _record(self, incident: Incident, verb: Verb, text: str) -> None:
        self.events.append(
            IncidentEvent(
                incident_id=incident.incident_id,
                time_unix_nano=self._moment.now,
                verb=verb,
                text=text,
            )
        )


def _newest(findings: Iterable[Finding]) -> dict[str, Finding]:
    """One finding of each id: the newest; of equal times the open one."""
    ordered = sorted(
        findings, key=lambda finding: (finding.seen_unix_nano, finding.is_open, repr(finding))
    )
    return {finding.finding_id: finding for finding in ordered}


def _began_after(finding: Finding, incident: Incident) -> bool:
    """Whether a finding began after the incident was resolved."""
    is_resolved = incident.state is IncidentState.RESOLVED
    return is_resolved and finding.since_unix_nano > incident.resolved_unix_nano


def _onset(finding: Finding) -> tuple[int, str]:
    return (finding.since_unix_nano, finding.finding_id)


def _opened(incident: Incident) -> tuple[int, str]:
    return (incident.opened_unix_nano, incident.incident_id)


def _incident_id(finding: Finding, again: int = 0) -> str:
    """A stable id: same first finding, same id, so that a fold after a crash is the same again."""
    place = (finding.service, finding.environment)
    return identity(*place, finding.finding_id, finding.since_unix_nano, again, size=6)
