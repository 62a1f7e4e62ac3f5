"""What an audit says to people: its progress, its outcome, its findings. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from alerts.audits.confidence import could_show
from alerts.audits.decide import Plan, allowed, caused_by, seen
from ragvigil.model.audit import Audit, AuditResult, AuditState, Pair
from ragvigil.model.finding import Finding, FindingKind

TRACES = 5
OPEN_HOURS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How many pairs an hour come, and the present, in seconds since the epoch."""

    an_hour: float
    now: float


def progress(audit: Audit, pairs: Sequence[Pair], plan: Plan, pace: Pace) -> str:
    """One line: what is known of each rubric, what could be shown now, and what by when."""
    running = [one for one in audit.results if one.state is AuditState.RUNNING]
    most = allowed(audit.results, plan)
    told = ", ".join(_standing(one) for one in audit.results if one.change is not None)
    line = f"after {len(pairs)} of {most} pairs: {told or 'nothing judged yet'}"
    if not running or not pairs:
        return line
    known = seen(pairs, running[0].rubric)
    alpha = plan.alpha(running[0].rubric)
    now, later = (could_show(n, known.variance, alpha) for n in (known.n, most))
    if later >= now or pace.an_hour <= 0:
        return f"{line}; could show a drop of {_points(now)} points"
    at = datetime.fromtimestamp(pace.now + (most - len(pairs)) / pace.an_hour * 3600, UTC)
    shown = f"could show a drop of {_points(now)} points now, " if now < 1 else "could show "
    more = _points(later) if now < 1 else f"a drop of {_points(later)} points"
    return f"{line}; {shown}{more} by about {at:%H:%M} UTC"


def outcome(result: AuditResult, plan: Plan) -> str:
    """What is known of one rubric, in points.

    >>> from ragvigil.model.score import Layer
    >>> result = AuditResult(rubric="groundedness", layer=Layer.GENERATION, n=210, change=-0.1,
    ...                      low=-0.15, high=-0.05, state=AuditState.DROPPED)
    >>> outcome(result, Plan(first=("groundedness",)))
    'groundedness dropped by 10 [5, 15]'
    """
    if result.change is None or result.low is None or result.high is None:
        return f"{result.rubric}: nothing judged"
    if result.state is AuditState.DROPPED:
        near, far = _points(-result.high), _points(-result.low)
        return f"{result.rubric} dropped by {_points(-result.change)} [{near}, {far}]"
    if result.state is AuditState.STEADY:
        return f"{result.rubric}: no drop over {_points(plan.smallest_drop)} points"
    word = "undecided" if result.state is AuditState.UNDECIDED else "running"
    return f"{_standing(result)} {word}"


def conclusion(audit: Audit, plan: Plan) -> str:
    """All rubrics of an audit that ended, and why it ended where that left one undecided."""
    told = "; ".join(outcome(one, plan) for one in audit.results)
    return f"{told} ({audit.why})" if audit.why else told


def findings(audit: Audit, pairs: Sequence[Pair], plan: Plan) -> tuple[Finding, ...]:
    """A finding for each rubric that dropped, open; the five traces that lost most."""
    return tuple(
        _finding(audit, one, pairs, plan)
        for one in audit.results
        if one.state is AuditState.DROPPED
    )


def standing(found: Finding, audits: Iterable[Audit], now: int) -> Finding:
    """The finding as it stands: over where a later audit showed a gain, or after a day.

    A confirmed drop has no signal that would tell of its end.
    """
    gains = [
        one.decided_unix_nano or audit.ended_unix_nano or now
        for audit in audits
        if (audit.service, audit.environment) == (found.service, found.environment)
        and audit.anchor_unix_nano > found.since_unix_nano
        and (not audit.routes or set(audit.routes) & set(found.routes))
        for one in audit.results
        if one.rubric == found.signal and one.low is not None and one.low > 0
    ]
    until = found.seen_unix_nano + OPEN_HOURS * 3600 * 10**9
    return replace(
        found, cleared_unix_nano=min([*gains, *([until] if until <= now else [])], default=0)
    )


def _finding(audit: Audit, result: AuditResult, pairs: Sequence[Pair], plan: Plan) -> Finding:
    routes = tuple(sorted({pair.after.route for pair in pairs}))
    return Finding(
        finding_id=f"audit-{audit.audit_id}-{result.rubric}",
        kind=FindingKind.AUDIT,
        service=audit.service,
        environment=audit.environment,
        routes=audit.routes or routes,
        signal=result.rubric,
        layer=result.layer,
        causes=caused_by(result.rubric, audit.results, audit.causes),
        value=result.after,
        reference=result.before,
        low=result.low,
        high=result.high,
        n=result.n,
        since_unix_nano=audit.anchor_unix_nano,
        seen_unix_nano=result.decided_unix_nano,
        traces=_worst(pairs, result.rubric),
        words=f"{outcome(result, plan)}, {result.n} pairs judged before and after {audit.reason}",
    )


def _worst(pairs: Sequence[Pair], rubric: str) -> tuple[str, ...]:
    """The after-traces that scored least; of equal ones, those that were best before."""
    scored = [
        (one.value, -other.value, pair.after.trace_id)
        for pair in pairs
        for one in pair.after.verdicts
        for other in pair.before.verdicts
        if one.rubric == other.rubric == rubric
        and one.value is not None
        and other.value is not None
    ]
    return tuple(trace_id for _, _, trace_id in sorted(scored)[:TRACES])


def _standing(one: AuditResult) -> str:
    """`groundedness -3 [-9, +3]`."""
    assert one.change is not None
    assert one.low is not None
    assert one.high is not None
    signed = [_signed(value) for value in (one.change, one.low, one.high)]
    return f"{one.rubric} {signed[0]} [{signed[1]}, {signed[2]}]"


def _signed(value: float) -> str:
    points = round(100 * value)
    return f"{points:+d}" if points else "0"


def _points(value: float) -> str:
    return str(round(100 * value))
