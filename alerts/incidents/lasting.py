"""Decides which findings of an incident still last, and which only show recovery. Pure."""

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
"""Kinds that are measured again and again, so that their end is seen."""


def lasting(
    incident: Incident, settings: IncidentSettings, changes: Changes | None = None
) -> list[Finding]:
    """The findings that are worse and open; changes count only where there is nothing else."""
    findings = worse(incident, settings, changes)
    witnesses = [
        finding for finding in findings if finding.kind is not FindingKind.CHANGED
    ] or findings
    return [finding for finding in witnesses if finding.is_open]


def worse(
    incident: Incident, settings: IncidentSettings, changes: Changes | None = None
) -> list[Finding]:
    """The findings without those that only show numbers on their way back."""
    known_changes = changes or Changes(incident.suspects, settings)
    return [
        finding
        for finding in incident.findings
        if not is_way_back(finding, incident, known_changes)
    ]


def pages(finding: Finding, settings: IncidentSettings) -> bool:
    """Whether a finding pages by its kind; an audit's drop pages only if it is not small."""
    is_ticket = finding.kind is FindingKind.AUDIT and is_small(
        finding.reference, finding.value, settings.page_drop
    )
    return finding.kind in PAGES and not is_ticket


def is_way_back(finding: Finding, incident: Incident, changes: Changes) -> bool:
    """Whether a finding shows that the incident's trouble recedes, or its change was put back.

    That is a move in the opposite direction, or one that is not for the worse and follows the fix
    of a suspect. `changes` includes the incident's suspects.
    """
    if finding.kind is not FindingKind.MOVED:
        return False
    if goes_back(finding, incident.findings):
        return True
    last = changes.anchor(finding)
    is_after_fix = last is not None and is_fix(last, incident.suspects)
    return is_after_fix and is_good_or_neutral(finding)


def refresh(
    incident: Incident, news: Mapping[str, Finding], now: int, settings: IncidentSettings
) -> tuple[Finding, ...]:
    """Updates the incident's findings by `news`, by id; `now` is in nanoseconds."""
    return tuple(
        _newer(finding, news[finding.finding_id], now)
        if finding.finding_id in news
        else _aged(finding, now, settings)
        for finding in incident.findings
    )


def confirm(news: Finding, now: int) -> Finding:
    """Marks a finding as seen now. An audit is seen once, at the time when it ended."""
    if news.kind is FindingKind.AUDIT:
        return news
    return replace(news, seen_unix_nano=max(news.seen_unix_nano, now))


def _newer(stored: Finding, news: Finding, now: int) -> Finding:
    """A finding that cleared keeps its last open numbers; an audit's finding stays cleared."""
    if not news.is_open:
        return replace(stored, cleared_unix_nano=stored.cleared_unix_nano or news.cleared_unix_nano)
    if stored.kind is FindingKind.AUDIT and not stored.is_open:
        return stored
    return confirm(news, now)


def _aged(stored: Finding, now: int, settings: IncidentSettings) -> Finding:
    """Clears a signal that nothing has confirmed for `unseen_minutes`."""
    is_stale = now - stored.seen_unix_nano > settings.unseen_minutes * MINUTE
    if stored.is_open and stored.kind is not FindingKind.AUDIT and is_stale:
        return replace(stored, cleared_unix_nano=now)
    return stored


def without_past_audits(incident: Incident, now: int, settings: IncidentSettings) -> Incident:
    """Clears findings of audits with the signals beside them, with the fix, or by age."""
    findings = tuple(
        _unless_over(finding, incident, now, settings) for finding in incident.findings
    )
    return replace(incident, findings=findings)


def _unless_over(
    finding: Finding, incident: Incident, now: int, settings: IncidentSettings
) -> Finding:
    if finding.kind is not FindingKind.AUDIT or not finding.is_open:
        return finding
    signals = [other for other in incident.findings if other.kind in SIGNALS]
    ends = [other.cleared_unix_nano for other in signals]
    # All signals beside the audit have cleared, and one of them after the audit ended.
    if ends and all(ends) and max(ends) > finding.seen_unix_nano:
        return replace(finding, cleared_unix_nano=max(ends))
    if is_stale_audit(finding, now, settings) or _is_put_back(finding, incident):
        return replace(finding, cleared_unix_nano=now)
    return finding


def is_stale_audit(finding: Finding, now: int, settings: IncidentSettings) -> bool:
    """Whether a finding of an audit is older than `audit_hours`."""
    is_old = now - finding.seen_unix_nano > settings.audit_hours * 60 * MINUTE
    return finding.kind is FindingKind.AUDIT and is_old


def _is_put_back(finding: Finding, incident: Incident) -> bool:
    return any(
        fix.since_unix_nano > finding.since_unix_nano
        and is_fix(fix, incident.suspects)
        and (not fix.route or share_a_route(finding, replace(finding, routes=(fix.route,))))
        for fix in incident.suspects
    )
