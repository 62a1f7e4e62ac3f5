"""What starts an audit: notices, deploy marks, moved findings; which of them share one. Pure."""

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
"""Changes of routes so close to each other are one."""
COVERED = 6 * HOUR
"""An audit stands for what changes on its routes so soon after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """A change from which before and after are told; no routes are all of the service.

    `weight` orders them: changes that explain something or were marked go before what moved.
    """

    source: str
    service: str
    environment: str
    routes: tuple[str, ...]
    time_unix_nano: int
    reason: str
    causes: tuple[Cause, ...] = ()
    weight: int = 0


def of_notice(notice: Notice) -> Anchor:
    """A change that was noticed on one route."""
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
    """A mark that was set by hand, in one of the environments that it is for."""
    return Anchor(
        source=f"{deploy.deploy_id}/{environment}",
        service=deploy.service,
        environment=environment,
        routes=(),
        time_unix_nano=deploy.time_unix_nano,
        reason=" ".join(one for one in (deploy.kind, deploy.version) if one),
        weight=2,
    )


def of_finding(finding: Finding) -> Anchor | None:
    """What moved; None of any other finding, and of one that is over."""
    if finding.kind is not FindingKind.MOVED or not finding.is_open:
        return None
    return Anchor(
        source=finding.finding_id,
        service=finding.service,
        environment=finding.environment,
        routes=finding.routes,
        time_unix_nano=finding.since_unix_nano,
        reason=f"{finding.signal} moved",
        causes=finding.causes,
    )


def in_order(anchors: Iterable[Anchor]) -> list[Anchor]:
    """The weightiest first, of these the earliest."""
    return sorted(anchors, key=lambda one: (-one.weight, one.time_unix_nano, one.source))


def taken_in(audits: Sequence[Audit], anchor: Anchor) -> Audit | None:
    """The audit that stands for this anchor, with what it adds; None where it needs its own.

    One that runs takes in further routes of the same change. One that ended stands for what is
    on its routes alone, and is unchanged but for the anchor among its sources.
    """
    for audit in audits:
        if anchor.source in audit.sources:
            return audit
        if (audit.service, audit.environment) != (anchor.service, anchor.environment):
            continue
        apart = anchor.time_unix_nano - audit.anchor_unix_nano
        is_covered = not audit.routes or (
            bool(anchor.routes) and set(anchor.routes) <= set(audit.routes)
        )
        if is_covered and -TOGETHER <= apart <= COVERED:
            return _joined(audit, anchor)
        if audit.is_running and abs(apart) <= TOGETHER and _is_one(audit.causes, anchor.causes):
            return _joined(_widened(audit, anchor), anchor)
    return None


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


def _is_one(some: Sequence[Cause], others: Sequence[Cause]) -> bool:
    """Whether two changes can be the same: a release or a mark may be any."""
    return not some or not others or set(some) == set(others)


def _joined(audit: Audit, anchor: Anchor) -> Audit:
    reasons = dict.fromkeys([*audit.reason.split("; "), anchor.reason])
    return replace(
        audit,
        sources=(*audit.sources, anchor.source),
        reason="; ".join(reasons),
        causes=tuple(dict.fromkeys((*audit.causes, *anchor.causes))),
    )


def _widened(audit: Audit, anchor: Anchor) -> Audit:
    """With the routes of the anchor, each from its own time on; all routes swallow the named."""
    if not anchor.routes:
        return replace(audit, routes=(), since_unix_nano=())
    fresh = tuple(one for one in anchor.routes if one not in audit.routes)
    return replace(
        audit,
        routes=(*audit.routes, *fresh),
        since_unix_nano=(*audit.since_unix_nano, *(anchor.time_unix_nano for _ in fresh)),
    )
