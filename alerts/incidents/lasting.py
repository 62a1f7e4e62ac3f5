"""Decides which findings of an incident still last, and which only show recovery. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from alerts.audits.decide import is_small
from alerts.audits.settings import AuditSettings
from alerts.drift.findings import HARMLESS_ALONE
from alerts.incidents.settings import IncidentSettings
from alerts.incidents.suspects import (
    MINUTE,
    Changes,
    goes_back,
    is_fix,
    is_good_or_neutral,
    share_a_route,
    undoes,
)
from ragvigil.model.audit import Audit, AuditResult
from ragvigil.model.finding import PAGES, Finding, FindingKind
from ragvigil.model.incident import Incident
from ragvigil.model.notice import Notice

SIGNALS = frozenset({FindingKind.BROKEN, FindingKind.LIMIT, FindingKind.MOVED, FindingKind.DRIFT})
"""Kinds that are measured again and again, so that their end is seen."""
JUDGED = frozenset({FindingKind.AUDIT, FindingKind.DRIFT})
ON_ALL_TRAFFIC = SIGNALS - {FindingKind.DRIFT}
DRIFT_ENDS = 24 * 60 * MINUTE
"""If a sustained drop goes on for this long after the fix, it opens its incident again."""
AUDIT_BEGINS = 10 * MINUTE
"""Within this time a fix has an audit that may confirm it, or never."""
AUDIT_ENDS = 45 * MINUTE
"""For so long an incident waits for the audit of its fix: a drop worth a page that had come back in
part would show by then, and a slow route may need hours to confirm what is already undone."""
SAME = AuditSettings().smallest_drop
"""Levels nearer to each other than the smallest drop that matters are the same."""


def lasting(
    incident: Incident, settings: IncidentSettings, changes: Changes | None = None
) -> list[Finding]:
    """The findings that are worse and open; changes count only where there is nothing else."""
    findings = worse(incident, settings, changes)
    witnesses = [
        finding for finding in findings if finding.kind is not FindingKind.CHANGED
    ] or findings
    return [
        finding
        for finding in witnesses
        if finding.is_open and not _is_of_the_past(finding, findings, incident)
    ]


def _is_of_the_past(finding: Finding, others: Iterable[Finding], incident: Incident) -> bool:
    """Whether a sustained drop only still holds the scores of before a fix.

    Few scores are judged an hour, so that its end may take hours to prove. What is measured on all
    traffic beside it has come back after the fix, which was noticed at most DRIFT_ENDS ago.
    """
    if finding.kind is not FindingKind.DRIFT:
        return False
    beside = [other.cleared_unix_nano for other in others if other.kind in ON_ALL_TRAFFIC]
    fixes = [change for change in incident.suspects if is_fix(change, incident.suspects)]
    return (
        bool(beside)
        and all(beside)
        and any(
            fix.since_unix_nano <= max(beside)
            and finding.seen_unix_nano - fix.noticed_unix_nano <= DRIFT_ENDS
            and (not fix.route or share_a_route(finding, replace(finding, routes=(fix.route,))))
            for fix in fixes
        )
    )


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
    """Whether a finding pages by its kind; an audit's drop pages only if it is not small.

    A drop of what costs or orders chunks, sustained or confirmed by an audit, harms no answer by
    itself and is a ticket; so is all that rests on a retired judge.
    """
    is_ticket = finding.kind is FindingKind.AUDIT and is_small(
        finding.reference, finding.value, settings.page_drop
    )
    is_ticket |= finding.kind in JUDGED and finding.signal in HARMLESS_ALONE
    return finding.kind in PAGES and not is_ticket and not finding.is_untrusted


def is_way_back(finding: Finding, incident: Incident, changes: Changes) -> bool:
    """Whether a finding shows that the incident's trouble recedes, or its change was put back.

    That is a move in the opposite direction, or one that is not for the worse and follows the fix
    of a suspect. `changes` includes the incident's suspects.
    """
    if finding.kind is not FindingKind.MOVED:
        return False
    if goes_back(finding, incident.findings):
        return True
    return follows_fix(finding, incident, changes) and is_good_or_neutral(finding)


def follows_fix(finding: Finding, incident: Incident, changes: Changes) -> bool:
    """Whether the likeliest change before a finding put one of the suspects back."""
    last = changes.anchor(finding)
    return last is not None and is_fix(last, incident.suspects)


def is_judged_none(incident: Incident) -> bool:
    """Whether a person said that nothing is wrong."""
    return incident.is_expected or incident.is_false_page


def refresh(
    incident: Incident, news: Mapping[str, Finding], now: int, settings: IncidentSettings
) -> tuple[Finding, ...]:
    """Updates the incident's findings by `news`, by id; `now` is in nanoseconds.

    Numbers that a person judged stay: what goes beyond them is another incident.
    """
    is_judged = is_judged_none(incident)
    return tuple(
        _newer(finding, news[finding.finding_id], now, is_judged=is_judged)
        if finding.finding_id in news
        else _aged(finding, now, settings)
        for finding in incident.findings
    )


def confirm(news: Finding, now: int) -> Finding:
    """Marks a finding as seen now. An audit is seen once, at the time when it ended."""
    if news.kind is FindingKind.AUDIT:
        return news
    return replace(news, seen_unix_nano=max(news.seen_unix_nano, now))


def _newer(stored: Finding, news: Finding, now: int, *, is_judged: bool) -> Finding:
    """A finding that cleared keeps its last open numbers; an audit's finding stays cleared."""
    if not news.is_open:
        return replace(stored, cleared_unix_nano=stored.cleared_unix_nano or news.cleared_unix_nano)
    if stored.kind is FindingKind.AUDIT and not stored.is_open:
        return stored
    if is_judged:
        return confirm(replace(news, value=stored.value, low=stored.low, high=stored.high), now)
    return confirm(news, now)


def _aged(stored: Finding, now: int, settings: IncidentSettings) -> Finding:
    """Clears a signal that nothing has confirmed for `unseen_minutes`."""
    is_stale = now - stored.seen_unix_nano > settings.unseen_minutes * MINUTE
    if stored.is_open and stored.kind is not FindingKind.AUDIT and is_stale:
        return replace(stored, cleared_unix_nano=now)
    return stored


def without_past_audits(
    incident: Incident, audits: Collection[Audit], now: int, settings: IncidentSettings
) -> Incident:
    """Clears findings of audits with the signals beside them, after the fix, or by age."""
    findings = tuple(
        replace(finding, cleared_unix_nano=end) if end else finding
        for finding in incident.findings
        for end in [_end_of_audit(finding, incident, audits, now, settings)]
    )
    return replace(incident, findings=findings)


def _end_of_audit(
    finding: Finding,
    incident: Incident,
    audits: Collection[Audit],
    now: int,
    settings: IncidentSettings,
) -> int:
    """When a finding of an audit ended; 0 while it lasts, and for other findings."""
    if finding.kind is not FindingKind.AUDIT or not finding.is_open:
        return 0
    signals = [other for other in incident.findings if other.kind in SIGNALS]
    ends = [other.cleared_unix_nano for other in signals]
    # All signals beside the audit have cleared, and one of them after the audit ended.
    if ends and all(ends) and max(ends) > finding.seen_unix_nano:
        return max(ends)
    if end := _end_of_numbers(finding, signals, audits):
        return end
    if is_stale_audit(finding, now, settings) or any(
        _is_settled(fix, audits, now) for fix in fixes_of(finding, incident, settings)
    ):
        return now
    return 0


def _end_of_numbers(finding: Finding, signals: Collection[Finding], audits: Iterable[Audit]) -> int:
    """When the numbers were back for which alone an audit was made; 0 while one lasts.

    On a slow route the audit may end after them: its drop is of the time before.
    """
    sources = {name for audit in audits if _is_of(finding, audit) for name in audit.sources}
    own = [signal for signal in signals if signal.finding_id in sources]
    ends = [signal.cleared_unix_nano for signal in own]
    return max(ends) if ends and len(own) == len(sources) and all(ends) else 0


def fixes_of(
    finding: Finding, incident: Incident, settings: IncidentSettings
) -> tuple[Notice, ...]:
    """The suspects that put the change back with which a finding of an audit began."""
    return tuple(
        fix
        for fix in incident.suspects
        if is_fix(fix, incident.suspects)
        and (not fix.route or share_a_route(finding, replace(finding, routes=(fix.route,))))
        and any(
            undoes(fix, change)
            and abs(change.since_unix_nano - finding.since_unix_nano)
            <= settings.within_minutes * MINUTE
            for change in incident.suspects
        )
    )


def _is_settled(fix: Notice, audits: Iterable[Audit], now: int) -> bool:
    """Whether the audit of a fix has ended, or has had its time, or none has begun in time."""
    own = [audit for audit in audits if fix.notice_id in audit.sources]
    if own and not any(audit.is_running for audit in own):
        return True
    return now - fix.noticed_unix_nano >= (AUDIT_ENDS if own else AUDIT_BEGINS)


def only_takes_back(finding: Finding, audits: Collection[Audit], changes: Changes) -> bool:
    """Whether an audit's drop after a fix may be no more than what the change had gained.

    A change may raise one rubric while it lowers others: shorter chunks are relevant as a whole,
    and hold too little. Put back, it takes back the gain, and nothing is worse than it was before.
    """
    of_fix = next((audit for audit in audits if _is_of(finding, audit)), None)
    if of_fix is None:
        return False
    own = [change for change in changes.all if change.notice_id in of_fix.sources]
    if not own or not all(is_fix(change, changes.all) for change in own):
        return False
    undone = {change.notice_id for change in changes.all if any(undoes(fix, change) for fix in own)}
    of_undone = [audit for audit in audits if not undone.isdisjoint(audit.sources)]
    return any(
        _may_cancel(gain, loss)
        for loss in _results(of_fix, finding.signal)
        for audit in of_undone
        for gain in _results(audit, finding.signal)
    )


def _results(audit: Audit, rubric: str) -> Iterator[AuditResult]:
    """What an audit measured of a rubric; nothing before its first pair."""
    return (each for each in audit.results if each.rubric == rubric and each.change is not None)


def _may_cancel(gain: AuditResult, loss: AuditResult) -> bool:
    """Whether a loss is not surely greater than a gain: each is known from some pairs only."""
    assert gain.change is not None
    assert loss.change is not None
    error = math.hypot(_half(gain), _half(loss))
    return -(gain.change + loss.change) - error < SAME


def _half(result: AuditResult) -> float:
    """Half of an interval, its wider side."""
    assert result.change is not None
    assert result.low is not None
    assert result.high is not None
    return max(result.change - result.low, result.high - result.change)


def _is_of(finding: Finding, audit: Audit) -> bool:
    return finding.finding_id == f"audit-{audit.audit_id}-{finding.signal}"


def is_stale_audit(finding: Finding, now: int, settings: IncidentSettings) -> bool:
    """Whether a finding of an audit is older than `audit_hours`."""
    is_old = now - finding.seen_unix_nano > settings.audit_hours * 60 * MINUTE
    return finding.kind is FindingKind.AUDIT and is_old
