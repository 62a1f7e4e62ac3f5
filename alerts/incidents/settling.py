"""Settles an incident once its findings are in place: cause, page, wake, end. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from alerts.incidents.belonging import SharedCause
from alerts.incidents.ending import end_words
from alerts.incidents.lasting import (
    SIGNALS,
    is_judged_none,
    lasting,
    pages,
    without_past_audits,
    worse,
)
from alerts.incidents.settings import IncidentSettings
from alerts.incidents.suspects import (
    MINUTE,
    Changes,
    is_fix,
    is_one_change,
    share_a_route,
    suspects,
)
from alerts.verdict.evidence import evidence_of
from alerts.verdict.posterior import verdict
from ragvigil.model.audit import Audit
from ragvigil.model.finding import Finding, FindingKind, error_of, goes_beyond
from ragvigil.model.incident import Incident, IncidentState, Severity, Verb
from ragvigil.model.notice import Notice

MOST_ROUNDS = 8
"""Most rounds of `_suspects`, should two answers alternate."""
Record = Callable[[Incident, Verb, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The time of a fold in nanoseconds, the changes and audits of the last hours, the settings."""

    now: int
    changes: Changes
    shared: SharedCause
    settings: IncidentSettings
    audits: tuple[Audit, ...] = ()
    held: Mapping[str, Sequence[str]]

    def worse(self, incident: Incident) -> list[Finding]:
        """The incident's findings without those on their way back."""
        return worse(incident, self.settings, self.changes)

    def lasting(self, incident: Incident) -> list[Finding]:
        """The incident's findings that are worse and open."""
        return lasting(incident, self.settings, self.changes)

    def without_past_audits(self, incident: Incident) -> Incident:
        """The incident, its findings of audits that are over cleared."""
        return without_past_audits(incident, self.audits, self.now, self.settings)

    def may_reopen(self, incident: Incident) -> bool:
        """Whether it was resolved so recently that a returning finding belongs to it."""
        since = self.now - incident.resolved_unix_nano
        return since <= self.settings.reopen_minutes * MINUTE


def settle(
    incident: Incident,
    moment: Moment,
    record: Record,
    *,
    elsewhere: frozenset[str],
    is_new: bool,
) -> Incident:
    """Names cause and suspects of an incident; escalates, wakes, reopens or ends it.

    `elsewhere` are the ids of the changes with which other incidents began.
    """
    incident = moment.without_past_audits(incident)
    if incident.state is IncidentState.RESOLVED:
        incident = _reopen_if_worse(incident, moment, record)
    if incident.state is IncidentState.RESOLVED:
        return incident
    # The event of the opening covers suspects and escalation of a new incident.
    first = _silent if is_new else record
    # Again after the suspects are known: a fix among them ends an audit's finding.
    incident = moment.without_past_audits(_explain(incident, moment, first, elsewhere))
    incident = _escalate(incident, moment, first)
    return _end(_wake(incident, moment, record), moment, record)


def changes_behind(incident: Incident, settings: IncidentSettings) -> tuple[Notice, ...]:
    """The likeliest suspect and the changes made together with it; no fixes."""
    changes = [change for change in incident.suspects if not is_fix(change, incident.suspects)]
    return tuple(change for change in changes if is_one_change(change, changes[0], settings))


def exceeds_judged(finding: Finding, incident: Incident) -> bool:
    """Whether a finding goes beyond every level at which a person said that nothing is wrong."""
    levels = [
        (other.value, error_of(other))
        for other in incident.findings
        if other.signal == finding.signal
        and other.value is not None
        and share_a_route(other, finding)
    ]
    is_judged = is_judged_none(incident) and bool(levels)
    return is_judged and all(goes_beyond(finding, *level) for level in levels)


def finding_line(finding: Finding) -> str:
    """A finding in one line."""
    where = ", ".join(route for route in finding.routes if route) or "all routes"
    return f"{finding.kind}: {finding.words or finding.signal} on {where}"


def _silent(_: Incident, __: Verb, ___: str) -> None:
    """Records no event."""


def _explain(
    incident: Incident, moment: Moment, record: Record, elsewhere: frozenset[str]
) -> Incident:
    changes = _suspects(incident, moment)
    known_ids = {change.notice_id for change in incident.suspects}
    # An event for each suspect that is new to the incident.
    for change in changes:
        if change.notice_id not in known_ids:
            what = "put back" if is_fix(change, changes) else "changed shortly before"
            record(
                incident, Verb.JOINED, f"{what}: {change.kind} on {change.route or 'all routes'}"
            )
    explained = replace(incident, suspects=changes)
    findings = moment.worse(explained)
    since = _onset(findings, moment.settings) if findings else incident.since_unix_nano
    dated = replace(explained, since_unix_nano=since)
    behind = _behind(dated, findings, moment, elsewhere)
    evidence = evidence_of(dated, findings, behind, moment.audits, moment.held)
    layer = verdict(evidence)
    return replace(dated, cause=layer.cause, verdict=layer)


def _onset(findings: Sequence[Finding], settings: IncidentSettings) -> int:
    """The earliest onset, in nanoseconds; that of a drift, which is coarse, only if no surer one
    lies within `follows_minutes` after it."""
    first = min(finding.since_unix_nano for finding in findings)
    surest = min(
        (each.since_unix_nano for each in findings if each.kind is not FindingKind.DRIFT),
        default=first,
    )
    return surest if surest - first <= settings.follows_minutes * MINUTE else first


def _behind(
    incident: Incident, findings: Sequence[Finding], moment: Moment, elsewhere: frozenset[str]
) -> tuple[Notice, ...]:
    """The likeliest change behind an incident, and those made together with it.

    A change with which another incident began is behind this one only if it can have led to one of
    its findings, too.
    """
    changes = [
        change
        for change in incident.suspects
        if not is_fix(change, incident.suspects)
        and (
            change.notice_id not in elsewhere
            or any(moment.shared.may_begin(finding, change) for finding in findings)
        )
    ]
    return tuple(change for change in changes if is_one_change(change, changes[0], moment.settings))


def _suspects(incident: Incident, moment: Moment) -> tuple[Notice, ...]:
    """Finds the suspects of what is worse; as this depends on the suspects, until both agree."""
    before = incident.suspects
    for _ in range(MOST_ROUNDS):
        findings = moment.worse(replace(incident, suspects=before))
        likeliest = suspects(findings, moment.changes.all, moment.settings, earlier=before)
        if likeliest == before:
            break
        before = likeliest
    return before


def _escalate(incident: Incident, moment: Moment, record: Record) -> Incident:
    """Makes the incident a page if a finding pages; that happens once."""
    is_page = any(pages(finding, moment.settings) for finding in moment.worse(incident))
    if incident.severity is Severity.PAGE or not is_page:
        return incident
    record(incident, Verb.ESCALATED, "a ticket became a page")
    return replace(
        incident,
        severity=Severity.PAGE,
        paged_unix_nano=moment.now,
        state=IncidentState.OPEN,
        snoozed_until_unix_nano=0,
    )


def _wake(incident: Incident, moment: Moment, record: Record) -> Incident:
    is_over = incident.snoozed_until_unix_nano <= moment.now
    if incident.state is not IncidentState.SNOOZED or not is_over:
        return incident
    record(incident, Verb.OPENED, "the snooze is over")
    return replace(incident, state=IncidentState.OPEN, snoozed_until_unix_nano=0)


def _end(incident: Incident, moment: Moment, record: Record) -> Incident:
    """Resolves the incident once nothing of it has lasted for `clear_minutes`."""
    if moment.lasting(incident):
        return incident
    last = max(finding.cleared_unix_nano for finding in moment.worse(incident) or incident.findings)
    if moment.now - last < moment.settings.clear_minutes * MINUTE:
        return incident
    words = end_words(incident, moment.changes.all, moment.audits, moment.settings)
    record(incident, Verb.CLEARED, words)
    return replace(
        incident,
        state=IncidentState.RESOLVED,
        resolved_unix_nano=moment.now,
        snoozed_until_unix_nano=0,
    )


def _reopen_if_worse(incident: Incident, moment: Moment, record: Record) -> Incident:
    """Opens an incident again that a person resolved and signals still see after a while."""
    still_open = [finding for finding in moment.lasting(incident) if finding.kind in SIGNALS]
    if is_judged_none(incident) or moment.may_reopen(incident) or not still_open:
        return incident
    record(incident, Verb.OPENED, f"resolved, but still worse: {finding_line(still_open[0])}")
    return replace(incident, state=IncidentState.OPEN, resolved_unix_nano=0)
