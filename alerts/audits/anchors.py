"""Anchors: the changes that start an audit, and which of them share one. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ragvigil.model.audit import Audit
from ragvigil.model.deploy import Deploy
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.identity import identity
from ragvigil.model.notice import CAUSES, Cause, ChangeKind, Notice

MINUTE, HOUR = 60 * 10**9, 3600 * 10**9
TOGETHER = 30 * MINUTE
"""Nanoseconds within which changes of several routes count as one change."""
COVERED = 2 * HOUR
"""Nanoseconds after its anchor in which an audit covers numbers that moved on its routes."""
COVERED_AT_MOST = 4 * HOUR
"""The same for a number that may have moved earlier: where little is known of when, all may be."""

MOVED = " moved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """The time of a change that separates before from after; empty `routes` means all of them.

    `weight` orders anchors: 2 for changes that can explain a drop or were marked as a release, 1
    for other notices, 0 for a number that moved. That may have moved since `earliest_unix_nano`.
    """

    source: str
    service: str
    environment: str
    routes: tuple[str, ...]
    time_unix_nano: int
    reason: str
    causes: tuple[Cause, ...] = ()
    weight: int = 0
    earliest_unix_nano: int = 0


def of_notice(notice: Notice) -> Anchor:
    """The anchor of a change that was noticed on one route."""
    return Anchor(
        source=notice.notice_id,
        service=notice.service,
        environment=notice.environment,
        routes=(notice.route,),
        time_unix_nano=notice.since_unix_nano,
        reason=f"{notice.kind} {notice.before} -> {notice.after}"
        if notice.before and notice.after
        else str(notice.kind),
        causes=CAUSES[notice.kind],
        weight=2 if CAUSES[notice.kind] or notice.kind is ChangeKind.RELEASE else 1,
    )


def of_deploy(deploy: Deploy, environment: str) -> Anchor:
    """The anchor of a deploy mark, in one of the environments that it is for."""
    return Anchor(
        source=f"{deploy.deploy_id}/{environment}",
        service=deploy.service,
        environment=environment,
        routes=(),
        time_unix_nano=deploy.time_unix_nano,
        reason=" ".join(part for part in (deploy.kind, deploy.version) if part),
        weight=2,
    )


def of_finding(finding: Finding) -> Anchor | None:
    """The anchor of a number that moved; None for other findings and for those that ended."""
    if finding.kind is not FindingKind.MOVED or not finding.is_open:
        return None
    return Anchor(
        source=finding.finding_id,
        service=finding.service,
        environment=finding.environment,
        routes=finding.routes,
        time_unix_nano=finding.since_unix_nano,
        reason=f"{finding.signal}{MOVED}",
        causes=finding.causes,
        earliest_unix_nano=finding.earliest_unix_nano,
    )


def is_of_numbers(audit: Audit) -> bool:
    """Whether an audit answers for numbers that moved alone, for no change that is known."""
    return all(reason.endswith(MOVED) for reason in audit.reason.split("; "))


def in_order(anchors: Iterable[Anchor]) -> list[Anchor]:
    """Sorts by weight, the heaviest first, then by time."""
    return sorted(
        anchors, key=lambda anchor: (-anchor.weight, anchor.time_unix_nano, anchor.source)
    )


def covered_by(audits: Sequence[Audit], anchor: Anchor) -> Audit | None:
    """Returns the audit that covers this anchor, with the anchor added; None if it needs its own.

    An audit answers for one change and for the numbers that moved with it, not for a change of
    another time or with other causes. A running audit covers its change on further routes, too, and
    is widened by them; by a number only if that moved on routes of the audit as well.
    """
    for audit in audits:
        if anchor.source in audit.sources:
            return audit
        if (audit.service, audit.environment) != (anchor.service, anchor.environment):
            continue
        if not _may_be_same(audit.causes, anchor.causes):
            continue
        apart = anchor.time_unix_nano - audit.anchor_unix_nano
        # An audit of all routes covers every anchor of its service.
        is_on_routes = not audit.routes or (
            bool(anchor.routes) and set(anchor.routes) <= set(audit.routes)
        )
        if is_on_routes and apart >= -TOGETHER and _is_soon(audit, anchor):
            return _join(audit, anchor)
        may_widen = audit.is_running and _is_on_further_routes(audit, anchor)
        if may_widen and abs(apart) <= TOGETHER:
            return _join(_widen(audit, anchor), anchor)
    return None


def _is_soon(audit: Audit, anchor: Anchor) -> bool:
    apart = anchor.time_unix_nano - audit.anchor_unix_nano
    if anchor.weight:
        return apart <= TOGETHER
    earliest = (anchor.earliest_unix_nano or anchor.time_unix_nano) - audit.anchor_unix_nano
    return apart <= COVERED or (earliest <= COVERED and apart <= COVERED_AT_MOST)


def audit_of(anchor: Anchor, started_unix_nano: int) -> Audit:
    """A new audit of one anchor."""
    return Audit(
        audit_id=identity(anchor.service, anchor.environment, anchor.source),
        service=anchor.service,
        environment=anchor.environment,
        anchor_unix_nano=anchor.time_unix_nano,
        started_unix_nano=started_unix_nano,
        routes=anchor.routes,
        since_unix_nano=(anchor.time_unix_nano,) * len(anchor.routes),
        sources=(anchor.source,),
        reason=anchor.reason,
        causes=anchor.causes,
    )


def _is_on_further_routes(audit: Audit, anchor: Anchor) -> bool:
    """Whether an anchor shows the change of an audit on further routes.

    That is a release, the same kind of change, or a number that moved on the audit's routes, too.
    Another kind of change on other routes is another change, and what moves there may be its doing.
    """
    if not anchor.weight:
        return not set(anchor.routes).isdisjoint(audit.routes)
    kinds = {reason.partition(" ")[0] for reason in audit.reason.split("; ")}
    return not anchor.causes or not audit.causes or anchor.reason.partition(" ")[0] in kinds


def _may_be_same(first: Sequence[Cause], second: Sequence[Cause]) -> bool:
    """Whether two changes may be the same one: a release or a mark, without causes, may be any."""
    return not first or not second or not set(first).isdisjoint(second)


def _join(audit: Audit, anchor: Anchor) -> Audit:
    reasons = dict.fromkeys([*audit.reason.split("; "), anchor.reason])
    return replace(
        audit,
        sources=(*audit.sources, anchor.source),
        reason="; ".join(reasons),
        causes=tuple(dict.fromkeys((*audit.causes, *anchor.causes))),
    )


def _widen(audit: Audit, anchor: Anchor) -> Audit:
    """Adds the anchor's routes, each from its own time on; an anchor of all routes covers them."""
    if not anchor.routes:
        return replace(audit, routes=(), since_unix_nano=())
    fresh = tuple(route for route in anchor.routes if route not in audit.routes)
    return replace(
        audit,
        routes=(*audit.routes, *fresh),
        since_unix_nano=(*audit.since_unix_nano, *(anchor.time_unix_nano for _ in fresh)),
    )
