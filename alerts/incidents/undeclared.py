"""Makes tickets of changes that nobody declared: they should be known, but wake nobody. Pure.

A release declares its changes, and so does a mark of `POST /api/v1/deploys`. A change without
either is a ticket until it is put back, declared, audited, or the usual state
(docs/adr/0011-undeclared-changes-are-tickets.md).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from alerts.incidents.settings import IncidentSettings
from alerts.incidents.suspects import MINUTE, is_fix
from ragvigil.model.audit import Audit
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.notice import CAUSES, Cause, ChangeKind, Notice
from ragvigil.model.score import Layer

DECLARED = 30 * MINUTE
"""A mark is posted this long before or after what it declares."""
LAYERS = {Cause.RETRIEVAL: Layer.RETRIEVAL, Cause.GENERATION: Layer.GENERATION}

SAID_WHOLE = frozenset(
    {
        ChangeKind.DOCUMENTS,
        ChangeKind.OTHER_CHUNKS,
        ChangeKind.OTHER_ORDER,
        ChangeKind.RERANKED,
        ChangeKind.REEMBEDDED,
        ChangeKind.RECHUNKED,
    }
)
"""Kinds whose words say the whole change: there was no value before."""


def undeclared(
    notices: Collection[Notice],
    audits: Iterable[Audit],
    now: int,
    settings: IncidentSettings,
) -> tuple[Finding, ...]:
    """Returns a finding for each change that is neither declared nor close to a declared one.

    `notices` are those of the last day, deploy marks included; `now` is in nanoseconds.
    """
    decided = [audit for audit in audits if audit.has_decided]
    return tuple(
        _finding(change, _over(change, notices, decided, now, settings), now)
        for change in notices
        if not change.is_declared
        and not is_fix(change, notices)
        and not _is_declared(change, notices)
    )


def _is_declared(change: Notice, notices: Iterable[Notice]) -> bool:
    return any(
        other.is_declared
        and other.service == change.service
        and other.environment in ("", change.environment)
        and other.route in ("", change.route)
        and abs(other.since_unix_nano - change.since_unix_nano) <= DECLARED
        for other in notices
    )


def _over(
    change: Notice,
    notices: Iterable[Notice],
    audits: Iterable[Audit],
    now: int,
    settings: IncidentSettings,
) -> int:
    """When the ticket ended: put back, audited, or the usual state by now; 0 while it lasts."""
    # Ended by whichever came first.
    put_back = [other.noticed_unix_nano for other in notices if is_fix(other, (change,))]
    audited = [audit.ended_unix_nano for audit in audits if change.notice_id in audit.sources]
    usual = change.since_unix_nano + settings.undeclared_hours * 60 * MINUTE
    return min((*put_back, *audited, *((usual,) if usual <= now else ())), default=0)


def _finding(change: Notice, cleared: int, now: int) -> Finding:
    causes = CAUSES[change.kind]
    return Finding(
        finding_id=f"changed-{change.notice_id}",
        kind=FindingKind.CHANGED,
        service=change.service,
        environment=change.environment,
        routes=(change.route,),
        signal=str(change.kind),
        layer=LAYERS.get(causes[0], Layer.CROSS_CUTTING) if causes else Layer.CROSS_CUTTING,
        causes=causes,
        n=change.requests,
        since_unix_nano=change.since_unix_nano,
        seen_unix_nano=cleared or now,
        cleared_unix_nano=cleared,
        words=_words(change),
    )


def _words(change: Notice) -> str:
    kind = f"{change.kind.replace('_', ' ')} without a release"
    if not change.before and change.kind in SAID_WHOLE:
        return f"{kind}: {change.after}"
    return f"{kind}: {change.before or 'nothing'} -> {change.after or 'nothing'}"
