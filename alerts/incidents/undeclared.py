"""Changes that nobody declared are tickets: somebody should know, nobody is woken. Pure.

A release says of itself that it changes things, and a mark of `POST /api/v1/deploys` too. What
changes without either, in production, is looked into until it is put back, declared, or audited.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from alerts.incidents.settings import IncidentSettings
from alerts.incidents.suspects import MINUTE, is_fix
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.notice import CAUSES, Cause, Notice
from ragvigil.model.score import Layer

LAYERS = {Cause.RETRIEVAL: Layer.RETRIEVAL, Cause.GENERATION: Layer.GENERATION}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """An audit that has ended: which service and routes it spoke of, from which change on."""

    service: str
    environment: str
    routes: tuple[str, ...]
    anchor_unix_nano: int
    ended_unix_nano: int


def undeclared(
    notices: Collection[Notice],
    audits: Iterable[Seen],
    now: int,
    settings: IncidentSettings,
) -> tuple[Finding, ...]:
    """A finding for each change that is not declared, nor beside one that is; `now` in nanoseconds.

    `notices` are those of the last day, marks of deploys among them.
    """
    ended = list(audits)
    return tuple(
        _finding(one, _over(one, notices, ended, now, settings), now)
        for one in notices
        if not one.is_declared
        and not is_fix(one, notices)
        and not _is_declared(one, notices, settings)
    )


def _is_declared(change: Notice, notices: Iterable[Notice], settings: IncidentSettings) -> bool:
    return any(
        one.is_declared
        and one.service == change.service
        and one.environment in ("", change.environment)
        and one.route in ("", change.route)
        and abs(one.since_unix_nano - change.since_unix_nano) <= settings.within_minutes * MINUTE
        for one in notices
    )


def _over(
    change: Notice,
    notices: Iterable[Notice],
    audits: Iterable[Seen],
    now: int,
    settings: IncidentSettings,
) -> int:
    """When it was over, 0 while it is not: put back, audited, or simply the new state."""
    put_back = [one.noticed_unix_nano for one in notices if is_fix(one, (change,))]
    audited = [one.ended_unix_nano for one in audits if _speaks_of(one, change, settings)]
    usual = change.since_unix_nano + settings.undeclared_hours * 60 * MINUTE
    return min((*put_back, *audited, *((usual,) if usual <= now else ())), default=0)


def _speaks_of(audit: Seen, change: Notice, settings: IncidentSettings) -> bool:
    apart = abs(audit.anchor_unix_nano - change.since_unix_nano)
    return (
        (audit.service, audit.environment) == (change.service, change.environment)
        and (not audit.routes or change.route in audit.routes)
        and apart <= settings.within_minutes * MINUTE
    )


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
    said = f"{change.kind.replace('_', ' ')} without a release"
    return f"{said}: {change.before or 'nothing'} -> {change.after or 'nothing'}"
