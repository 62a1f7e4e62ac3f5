"""Says how an incident ended: by which fix, and what confirmed it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime

from alerts.incidents.lasting import SIGNALS
from alerts.incidents.settings import IncidentSettings
from alerts.incidents.suspects import MINUTE, is_fix, is_one_change
from ragvigil.model.audit import Audit
from ragvigil.model.finding import Finding
from ragvigil.model.incident import Incident
from ragvigil.model.notice import ChangeKind, Notice

RECOVERY = 60 * MINUTE
"""A release is the fix only if what is measured is back this soon after it."""


def end_words(
    incident: Incident,
    changes: Collection[Notice],
    audits: Iterable[Audit],
    settings: IncidentSettings,
) -> str:
    """One line: "fixed at 14:10 by release 2.4.2, confirmed 14:31".

    A fix is a suspect that was put back, else the last release before the numbers came back. What
    confirms it is an audit of the fix, or the numbers themselves.
    """
    back = max((finding.cleared_unix_nano for finding in _measured(incident)), default=0)
    fixes = [change for change in incident.suspects if is_fix(change, incident.suspects)]
    fix = fixes[-1] if fixes else _last_release(incident, changes, back)
    if fix is None:
        return "nothing is worse any more"
    audited = [
        audit.ended_unix_nano
        for audit in audits
        if fix.notice_id in audit.sources and any((result.low or 0) > 0 for result in audit.results)
    ]
    confirmed = max(audited, default=0) or (back if back >= fix.since_unix_nano else 0)
    end = f"confirmed {_clock(confirmed)}" if confirmed else "no audit confirmed it"
    return f"fixed at {_clock(fix.since_unix_nano)} by {_name(fix, changes, settings)}, {end}"


def _measured(incident: Incident) -> Sequence[Finding]:
    return [finding for finding in incident.findings if finding.kind in SIGNALS]


def _last_release(incident: Incident, changes: Iterable[Notice], back: int) -> Notice | None:
    releases = [
        change
        for change in changes
        if change.kind is ChangeKind.RELEASE
        and change.service == incident.service
        and change.environment in ("", incident.environment)
        and any(not change.route or change.route in each.routes for each in _measured(incident))
        and incident.since_unix_nano < change.since_unix_nano <= back
        and back - change.since_unix_nano <= RECOVERY
        and change not in incident.suspects
    ]
    return max(releases, key=lambda change: (change.since_unix_nano, repr(change)), default=None)


def _name(fix: Notice, changes: Iterable[Notice], settings: IncidentSettings) -> str:
    """The release that brought the fix, else the fix itself."""
    releases = [
        change.after
        for change in changes
        if change.kind is ChangeKind.RELEASE and is_one_change(fix, change, settings)
    ]
    if version := max(releases, default=""):
        return f"{ChangeKind.RELEASE} {version}"
    return f"{fix.kind} {fix.after}".rstrip()


def _clock(unix_nano: int) -> str:
    return f"{datetime.fromtimestamp(unix_nano / 1e9, UTC):%H:%M}"
