"""Puts the answers that an incident harms into one issue, before any other grouping."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING

from clustering.issues import names
from clustering.issues.failure_baseline import key_of_tally
from clustering.issues.incident_evidence import IncidentEvidence
from clustering.issues.incident_group import (
    IncidentWindow,
    RouteTraffic,
    Shown,
    commonest,
    is_more_frequent,
    own_failures,
)
from clustering.issues.matching import Placement, opening_event, without_members
from clustering.issues.members import with_member
from clustering.issues.provisional import Key
from clustering.issues.usual_answers import UsualAnswers
from ragvigil.model.finding import HARMLESS, FindingKind
from ragvigil.model.identity import identity
from ragvigil.model.issue import Failure, Issue, IssueState, MemberBy, Membership
from ragvigil.model.wording.suspects import change_words
from ragvigil.store.engine.priority import Priority
from ragvigil.store.issues import failing_rows as failed
from ragvigil.store.issues import memberships, spikes
from ragvigil.store.watch import incidents as stored
from ragvigil.store.watch.incidents import IncidentFilter

if TYPE_CHECKING:
    from clustering.issues.ledger import IssueIndex
    from ragvigil.model.finding import Finding
    from ragvigil.model.incident import Incident
    from ragvigil.store.engine.store import Store
    from ragvigil.store.issues.failing_changes import Key as RecordKey
    from ragvigil.store.issues.failing_rows import KeptFailure
    from ragvigil.store.issues.spikes import Spike

HOUR, DAY, NANOS = 3600, 86_400, 10**9
PAST = 7 * DAY
"""How far back it is read what failed before an incident."""
LATE = HOUR
"""Scores of an incident's answers may come so long after its end."""
LONGEST = 2 * DAY
"""An incident that lasts longer gathers the answers of its first days."""
MOST = 5000
NO_ANSWERS = frozenset({FindingKind.BLIND})
"""Findings that no answer shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenIncidents:
    """Incidents that gather answers now, and what they show of single answers."""

    windows: tuple[IncidentWindow, ...] = ()
    spikes: tuple[Spike, ...] = ()
    redrawn: Mapping[RecordKey, int] = field(default_factory=dict)


class IncidentIssues:
    """`read` the incidents, then `place` failing answers; called by one thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._evidence = IncidentEvidence(store)
        self._before: dict[str, RouteTraffic] = {}
        self._usual: dict[str, UsualAnswers] = {}

    def read(self, now: float) -> OpenIncidents:
        """Incidents that last, or ended within LATE. Raises StoreError."""
        filter_ = IncidentFilter(since=max(0, int(now - LATE)))
        listed = stored.find(self._store, filter_, priority=Priority.TICK)
        windows: list[IncidentWindow] = []
        found: list[Spike] = []
        redrawn: dict[RecordKey, int] = {}
        for listed_incident in listed:
            if not _gathers(listed_incident):
                continue
            incident, usual = self._wherever(_harming(listed_incident), now)
            window = _window(incident, now, usual)
            shows = self._evidence.of(window, incident.findings, now)
            for key, share in shows.usual.items():
                usual[key] = max(share, usual.get(key, 0.0))
            windows.append(replace(window, usual=usual))
            found += (*spikes.of_labels(incident, int(window.last) // 60 * 60), *shows.spikes)
            redrawn |= shows.redrawn
        self._evidence.forget(windows)
        self._before = {w.incident_id: self._past(w) for w in windows}
        self._usual = {
            w.incident_id: self._usual.get(w.incident_id, UsualAnswers()) for w in windows
        }
        return OpenIncidents(windows=tuple(windows), spikes=tuple(found), redrawn=redrawn)

    def _wherever(self, incident: Incident, now: float) -> tuple[Incident, dict[Shown, float]]:
        """The incident with the further routes on which its findings show as clearly.

        A route of little traffic is found later, or never: its answers are harmed all the same.
        Beside it, by rubric and label, the share of answers that showed a finding before.
        """
        last = int(min(now, incident.resolved_unix_nano / NANOS or now)) // 60 * 60
        findings: list[Finding] = []
        usual: dict[Shown, float] = {}
        for finding in incident.findings:
            every = spikes.by_route(self._store, finding, last)
            if any(finding.routes):
                more = {spike.route for spike in every if is_more_frequent(spike)}
                routes = tuple(sorted({*filter(None, finding.routes), *more}))
                finding = replace(finding, routes=routes)
            findings.append(finding)
            rubric, _, label = finding.signal.partition(":")
            own = [spike for spike in every if spike.route in finding.routes] or every
            before = sum(spike.records_before for spike in own)
            if before >= spikes.LEAST_PAST and label != spikes.FAILED:
                share = sum(spike.shown_before for spike in own) / before
                # Two findings may be of one signal: the answers must be beyond the higher share.
                usual[rubric, label] = max(share, usual.get((rubric, label), 0.0))
        return replace(incident, findings=tuple(findings)), usual

    def place(self, windows: Sequence[IncidentWindow], index: IssueIndex, now: float) -> Placement:
        """The answers of each incident in its issue, wherever they were, unless a person has it."""
        placement = Placement()
        for window in windows:
            placement += self._placed(window, index, int(now * NANOS))
        return placement

    def _placed(self, window: IncidentWindow, index: IssueIndex, now: int) -> Placement:
        usual = self._usual[window.incident_id]
        unusual = usual.without(self._store, window, self._failures(window))
        rows = {row.key: row for row in unusual}
        traffic = self._with_requests(window)
        own = own_failures(window, (row.failure for row in rows.values()), traffic)
        issue_id = identity("incident", window.incident_id)
        homes = {failure.key: index.home(rows[failure.key]) for failure in own}
        joining = [failure for failure in own if _may_join(homes[failure.key], issue_id)]
        if not joining:
            return Placement()
        opened = index.get(issue_id) or _opened(window, own, issue_id, now)
        issue = reduce(with_member, joining, opened)
        if not issue.is_name_frozen:
            # What changed is often known later; no ticket has the name, for the incident is one.
            key = commonest(own, window.signals)
            issue = replace(issue, family=key.family, rubric=key.rubric, label=key.label)
            issue = replace(issue, name=_name(issue, own, window))
        left = Counter(
            home.issue_id for failure in joining if (home := homes[failure.key]) is not None
        )
        others = [
            without_members(home, left[home.issue_id])
            for home in {h.issue_id: h for h in homes.values() if h and h.issue_id in left}.values()
        ]
        return Placement(
            members=tuple(
                (rows[failure.key], _membership(failure, issue_id)) for failure in joining
            ),
            issues=(*others, issue),
            events=() if index.get(issue_id) else (opening_event(issue, now),),
        )

    def _failures(self, window: IncidentWindow) -> list[KeptFailure]:
        filter_ = failed.FailureFilter(
            service=window.service,
            environment=window.environment,
            since=int(window.first),
            until=int(window.last) + 60,
            newest_first=True,
            limit=MOST,
        )
        return failed.find(self._store, filter_, priority=Priority.TICK)

    def _past(self, window: IncidentWindow) -> RouteTraffic:
        """What failed before the incident; read once an incident."""
        known = self._before.get(window.incident_id)
        if known is not None:
            return known
        until = int(window.first // HOUR * HOUR)
        since = until - PAST
        failing = Counter[Key]()
        for tally in memberships.tally(self._store, since, priority=Priority.TICK):
            if tally.start < until and _is_of(window, tally):
                failing[key_of_tally(tally)] += tally.records
        rows = memberships.requests(self._store, since, priority=Priority.TICK)
        asked = sum(row.requests for row in rows if row.start < until and _is_of(window, row))
        return RouteTraffic(failed_before=failing, requests_before=asked, requests=0)

    def _with_requests(self, window: IncidentWindow) -> RouteTraffic:
        """The traffic before the window, and in it."""
        rows = memberships.requests(
            self._store, int(window.first), bin_seconds=60, priority=Priority.TICK
        )
        asked = Counter[int]()
        for row in rows:
            if row.start <= window.last and _is_of(window, row):
                asked[row.start] += row.requests
        return replace(
            self._before[window.incident_id],
            requests=sum(count for minute, count in asked.items() if minute >= window.begins),
            early={minute: count for minute, count in asked.items() if minute < window.begins},
        )


def _gathers(incident: Incident) -> bool:
    """Whether answers are worse by it, as far as is known."""
    is_of_answers = any(
        _shows_answers(finding.kind, finding.signal) for finding in incident.findings
    )
    return is_of_answers and not (
        incident.is_false_page or incident.is_expected or incident.verdict.is_blind
    )


def _harming(incident: Incident) -> Incident:
    own = [f for f in incident.findings if _shows_answers(f.kind, f.signal)]
    return replace(incident, findings=tuple(own))


def _shows_answers(kind: FindingKind, signal: str) -> bool:
    return kind not in NO_ANSWERS and signal not in HARMLESS


def _window(incident: Incident, now: float, usual: Mapping[Shown, float]) -> IncidentWindow:
    findings = incident.findings
    first = min(map(spikes.earliest, findings))
    onset = min(finding.since_unix_nano for finding in findings) / NANOS
    last = incident.resolved_unix_nano / NANOS if incident.resolved_unix_nano else now
    on_all = any(not any(finding.routes) for finding in findings)
    routes = {route for finding in findings for route in finding.routes if route}
    return IncidentWindow(
        incident_id=incident.incident_id,
        service=incident.service,
        environment=incident.environment,
        routes=frozenset() if on_all else frozenset(routes),
        signals=frozenset(finding.signal for finding in findings),
        first=first,
        last=min(last, onset + LONGEST),
        onset=onset // 60 * 60,
        change=change_words(incident),
        usual=usual,
    )


def _is_of(window: IncidentWindow, row: memberships.Tally | memberships.Requests) -> bool:
    is_here = (row.service, row.environment) == (window.service, window.environment)
    return is_here and (not window.routes or row.route in window.routes)


def _may_join(home: Issue | None, issue_id: str) -> bool:
    """Answers stay where a person works on their issue, and in another incident's."""
    return home is None or not (home.issue_id == issue_id or home.is_triaged or home.incident_id)


def _opened(window: IncidentWindow, own: Sequence[Failure], issue_id: str, now: int) -> Issue:
    key = commonest(own, window.signals)
    return Issue(
        issue_id=issue_id,
        service=window.service,
        environment=window.environment,
        family=key.family,
        rubric=key.rubric,
        label=key.label,
        name="",
        state=IssueState.NEW,
        first_unix_nano=own[0].time_unix_nano,
        last_unix_nano=own[0].time_unix_nano,
        opened_unix_nano=now,
        state_unix_nano=now,
        # Not by key: what fails after the incident is none of its own.
        is_provisional=False,
        incident_id=window.incident_id,
    )


def _name(issue: Issue, own: Sequence[Failure], window: IncidentWindow) -> str:
    questions = [failure.question or "" for failure in own]
    return names.name(
        issue.rubric, issue.label, questions, routes=issue.routes, change=window.change
    )


def _membership(failure: Failure, issue_id: str) -> Membership:
    return Membership(
        trace_id=failure.trace_id,
        record_id=failure.record_id,
        issue_id=issue_id,
        by=MemberBy.INCIDENT,
        strength=1.0,
    )
