"""Which findings of an incident still last, and which are only the way back. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from alerts.audits.decide import is_small
from alerts.incidents.settings import IncidentSettings
from alerts.incidents.suspects import (
    MINUTE,
    Changes,
    goes_back,
    is_fix,
    is_good_or_neutral,
    share_a_route,
)
from ragvigil.model.finding import PAGES, Finding, FindingKind
from ragvigil.model.incident import Incident

SIGNALS = frozenset({FindingKind.BROKEN, FindingKind.MOVED, FindingKind.DRIFT})
"""What is measured again and again, and so tells when it is over."""


def lasting(
    incident: Incident, settings: IncidentSettings, changes: Changes | None = None
) -> list[Finding]:
    """What is worse and open. A change alone lasts only where nothing else was ever found."""
    found = worse(incident, settings, changes)
    kept = [one for one in found if one.kind is not FindingKind.CHANGED] or found
    return [one for one in kept if one.is_open]


def worse(
    incident: Incident, settings: IncidentSettings, changes: Changes | None = None
) -> list[Finding]:
    """The findings without those that only show numbers on their way back."""
    known = changes or Changes(incident.suspects, settings)
    return [one for one in incident.findings if not is_way_back(one, incident, known)]


def pages(finding: Finding, settings: IncidentSettings) -> bool:
    """Whether a finding is of a kind that pages; a drop that an audit confirmed, if it is large."""
    is_ticket = finding.kind is FindingKind.AUDIT and is_small(
        finding.reference, finding.value, settings.page_drop
    )
    return finding.kind in PAGES and not is_ticket


def is_way_back(finding: Finding, incident: Incident, changes: Changes) -> bool:
    """Whether a finding shows that what the incident is about goes back, or was put back.

    A move the other way, or one that is not for the worse and follows the fix of a suspect.
    `changes` hold the incident's suspects.
    """
    if finding.kind is not FindingKind.MOVED:
        return False
    if goes_back(finding, incident.findings):
        return True
    last = changes.anchor(finding)
    is_after_fix = last is not None and is_fix(last, incident.suspects)
    return is_after_fix and is_good_or_neutral(finding)


def refreshed(
    incident: Incident, seen: Mapping[str, Finding], now: int, settings: IncidentSettings
) -> tuple[Finding, ...]:
    """The incident's findings with the news of this moment (nanoseconds), by id."""
    return tuple(
        _newer(one, seen[one.finding_id], now)
        if one.finding_id in seen
        else _aged(one, now, settings)
        for one in incident.findings
    )


def confirmed(news: Finding, now: int) -> Finding:
    """A finding that stands now. An audit speaks once, of the time when it ended."""
    if news.kind is FindingKind.AUDIT:
        return news
    return replace(news, seen_unix_nano=max(news.seen_unix_nano, now))


def _newer(held: Finding, news: Finding, now: int) -> Finding:
    """A finding that cleared keeps what it said while it lasted; an audit's stays cleared."""
    if not news.is_open:
        return replace(held, cleared_unix_nano=held.cleared_unix_nano or news.cleared_unix_nano)
    if held.kind is FindingKind.AUDIT and not held.is_open:
        return held
    return confirmed(news, now)


def _aged(held: Finding, now: int, settings: IncidentSettings) -> Finding:
    """A signal that nothing confirms any more is over."""
    is_stale = now - held.seen_unix_nano > settings.unseen_minutes * MINUTE
    if held.is_open and held.kind is not FindingKind.AUDIT and is_stale:
        return replace(held, cleared_unix_nano=now)
    return held


def without_past_audits(incident: Incident, now: int, settings: IncidentSettings) -> Incident:
    """Audits are over with the signals beside them, with the fix, or after a day."""
    findings = tuple(_unless_over(one, incident, now, settings) for one in incident.findings)
    return replace(incident, findings=findings)


def _unless_over(one: Finding, incident: Incident, now: int, settings: IncidentSettings) -> Finding:
    if one.kind is not FindingKind.AUDIT or not one.is_open:
        return one
    signals = [other for other in incident.findings if other.kind in SIGNALS]
    ends = [other.cleared_unix_nano for other in signals]
    if ends and all(ends) and max(ends) > one.seen_unix_nano:
        return replace(one, cleared_unix_nano=max(ends))
    if is_stale_audit(one, now, settings) or _is_put_back(one, incident):
        return replace(one, cleared_unix_nano=now)
    return one


def is_stale_audit(one: Finding, now: int, settings: IncidentSettings) -> bool:
    """Whether an audit is so old that it says nothing of now."""
    is_old = now - one.seen_unix_nano > settings.audit_hours * 60 * MINUTE
    return one.kind is FindingKind.AUDIT and is_old


def _is_put_back(one: Finding, incident: Incident) -> bool:
    return any(
        fix.since_unix_nano > one.since_unix_nano
        and is_fix(fix, incident.suspects)
        and (not fix.route or share_a_route(one, replace(one, routes=(fix.route,))))
        for fix in incident.suspects
    )
