"""What becomes of an incident once its findings are in place: cause, page, wake, end. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from alerts.incidents.cause import cause
from alerts.incidents.lasting import SIGNALS, lasting, pages, without_past_audits, worse
from alerts.incidents.settings import IncidentSettings
from alerts.incidents.suspects import MINUTE, Changes, is_fix, is_one_change, suspects
from ragvigil.model.finding import Finding
from ragvigil.model.incident import Incident, IncidentState, Severity, Verb
from ragvigil.model.notice import Notice

MOST_ROUNDS = 8
Tell = Callable[[Incident, Verb, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What every step knows: the time in nanoseconds, the changes of the last hours."""

    now: int
    changes: Changes
    settings: IncidentSettings

    def worse(self, incident: Incident) -> list[Finding]:
        """Its findings without the way back."""
        return worse(incident, self.settings, self.changes)

    def lasting(self, incident: Incident) -> list[Finding]:
        """What of it is worse and open."""
        return lasting(incident, self.settings, self.changes)

    def may_reopen(self, incident: Incident) -> bool:
        """Whether its resolution is so fresh that what comes back belongs to it."""
        since = self.now - incident.resolved_unix_nano
        return since <= self.settings.reopen_minutes * MINUTE


def settled(incident: Incident, moment: Moment, tell: Tell, *, is_new: bool) -> Incident:
    """The incident with cause and suspects named, escalated, awake, or ended."""
    incident = _without_past_audits(incident, moment)
    if incident.state is IncidentState.RESOLVED:
        incident = _still_worse(incident, moment, tell)
    if incident.state is IncidentState.RESOLVED:
        return incident
    # What came with the opening needs no event of its own.
    first = _silent if is_new else tell
    incident = _without_past_audits(_explained(incident, moment, first), moment)
    incident = _escalated(incident, moment, first)
    return _ended(_awake(incident, moment, tell), moment, tell)


def changes_behind(incident: Incident, settings: IncidentSettings) -> tuple[Notice, ...]:
    """The likeliest suspect and what was changed together with it; no fixes."""
    kept = [one for one in incident.suspects if not is_fix(one, incident.suspects)]
    return tuple(one for one in kept if is_one_change(one, kept[0], settings))


def is_judged_none(incident: Incident) -> bool:
    """Whether a person said that nothing is wrong."""
    return incident.is_expected or incident.is_false_page


def named(finding: Finding) -> str:
    """A finding in one line."""
    where = ", ".join(one for one in finding.routes if one) or "all routes"
    return f"{finding.kind}: {finding.words or finding.signal} on {where}"


def _without_past_audits(incident: Incident, moment: Moment) -> Incident:
    return without_past_audits(incident, moment.now, moment.settings)


def _silent(_: Incident, __: Verb, ___: str) -> None:
    """Tells nothing."""


def _explained(incident: Incident, moment: Moment, tell: Tell) -> Incident:
    changes = _suspects(incident, moment)
    known = {one.notice_id for one in incident.suspects}
    for one in changes:
        if one.notice_id not in known:
            what = "put back" if is_fix(one, changes) else "changed shortly before"
            tell(incident, Verb.JOINED, f"{what}: {one.kind} on {one.route or 'all routes'}")
    explained = replace(incident, suspects=changes)
    findings = moment.worse(explained)
    since = min((one.since_unix_nano for one in findings), default=incident.since_unix_nano)
    behind = changes_behind(explained, moment.settings)
    return replace(explained, since_unix_nano=since, cause=cause(findings, behind))


def _suspects(incident: Incident, moment: Moment) -> tuple[Notice, ...]:
    """Suspects are those of what is worse, and what is worse depends on them: until both agree."""
    before = incident.suspects
    for _ in range(MOST_ROUNDS):
        findings = moment.worse(replace(incident, suspects=before))
        found = suspects(findings, moment.changes.all, moment.settings, earlier=before)
        if found == before:
            break
        before = found
    return before


def _escalated(incident: Incident, moment: Moment, tell: Tell) -> Incident:
    """A page where a finding pages; an incident does so once."""
    is_page = any(pages(one, moment.settings) for one in moment.worse(incident))
    if incident.severity is Severity.PAGE or not is_page:
        return incident
    tell(incident, Verb.ESCALATED, "a ticket became a page")
    return replace(
        incident,
        severity=Severity.PAGE,
        paged_unix_nano=moment.now,
        state=IncidentState.OPEN,
        snoozed_until_unix_nano=0,
    )


def _awake(incident: Incident, moment: Moment, tell: Tell) -> Incident:
    is_over = incident.snoozed_until_unix_nano <= moment.now
    if incident.state is not IncidentState.SNOOZED or not is_over:
        return incident
    tell(incident, Verb.OPENED, "the snooze is over")
    return replace(incident, state=IncidentState.OPEN, snoozed_until_unix_nano=0)


def _ended(incident: Incident, moment: Moment, tell: Tell) -> Incident:
    """Resolved by itself once nothing of it has lasted for `clear_minutes`."""
    if moment.lasting(incident):
        return incident
    last = max(one.cleared_unix_nano for one in moment.worse(incident) or incident.findings)
    if moment.now - last < moment.settings.clear_minutes * MINUTE:
        return incident
    tell(incident, Verb.CLEARED, "nothing of it lasts any more")
    return replace(
        incident,
        state=IncidentState.RESOLVED,
        resolved_unix_nano=moment.now,
        snoozed_until_unix_nano=0,
    )


def _still_worse(incident: Incident, moment: Moment, tell: Tell) -> Incident:
    """What a person resolved and what signals still see opens again after a while."""
    left = [one for one in moment.lasting(incident) if one.kind in SIGNALS]
    if is_judged_none(incident) or moment.may_reopen(incident) or not left:
        return incident
    tell(incident, Verb.OPENED, f"resolved, but still worse: {named(left[0])}")
    return replace(incident, state=IncidentState.OPEN, resolved_unix_nano=0)
