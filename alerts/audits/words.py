"""An audit in words: its progress, its outcome and its findings. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from alerts.audits.confidence import could_show
from alerts.audits.decide import Plan, allowed_pairs, caused_by, sample_of
from ragvigil.model.audit import Audit, AuditResult, AuditState, Pair
from ragvigil.model.finding import Finding, FindingKind

TRACES = 5
OPEN_HOURS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Pairs that arrive per hour, and the present, in seconds since the epoch."""

    an_hour: float
    now: float


def progress(audit: Audit, pairs: Sequence[Pair], plan: Plan, pace: Pace) -> str:
    """One line: each rubric's change, the drop that could be shown now, and the drop by when."""
    running = [result for result in audit.results if result.state is AuditState.RUNNING]
    most = allowed_pairs(audit.results, plan)
    standings = ", ".join(_current(result) for result in audit.results if result.change is not None)
    line = f"after {len(pairs)} of {most} pairs: {standings or 'nothing judged yet'}"
    if not running or not pairs:
        return line
    sample = sample_of(pairs, running[0].rubric)
    alpha = plan.alpha(running[0].rubric)
    now, later = (could_show(n, sample.variance, alpha) for n in (sample.n, most))
    # No promise of a time without traffic, or once more pairs would not help.
    if later >= now or pace.an_hour <= 0:
        return f"{line}; could show a drop of {_points(now)} points"
    at = datetime.fromtimestamp(pace.now + (most - len(pairs)) / pace.an_hour * 3600, UTC)
    first = f"could show a drop of {_points(now)} points now, " if now < 1 else "could show "
    more = _points(later) if now < 1 else f"a drop of {_points(later)} points"
    return f"{line}; {first}{more} by about {at:%H:%M} UTC"


def outcome(result: AuditResult, plan: Plan) -> str:
    """The result of one rubric, in points.

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
    return f"{_current(result)} {word}"


def conclusion(audit: Audit, plan: Plan) -> str:
    """The outcomes of all rubrics, and why the audit ended where that left one undecided."""
    outcomes = "; ".join(outcome(result, plan) for result in audit.results)
    return f"{outcomes} ({audit.why})" if audit.why else outcomes


def lack_of_records(audit: Audit, pairs: Sequence[Pair], plan: Plan) -> str:
    """Why the audit ended with all its pairs judged: what it lacked to decide."""
    running = [result for result in audit.results if result.state is AuditState.RUNNING]
    judged = min((result.n for result in running), default=0)
    if not running or 2 * judged < len(pairs):
        return f"it lacked verdicts: the judge gave them on {judged} of {len(pairs)} pairs"
    shown = max(
        could_show(sample.n, sample.variance, plan.alpha(result.rubric))
        for result in running
        for sample in [sample_of(pairs, result.rubric)]
    )
    return (
        f"it lacked answers: all its {len(pairs)} pairs are judged, and show drops of "
        f"{_points(shown)} points; more [alerts.audit] records show smaller ones"
    )


def lack_of_time(arrived: int, pairs: int, plan: Plan) -> str:
    """Why the audit ended by its hours; `arrived` counts the answers since the change."""
    pairs_judged = f"{pairs} of {plan.records} pairs were judged in {plan.hours:g} hours"
    if arrived >= plan.records:
        return f"it lacked verdicts: {arrived} answers came, but {pairs_judged}"
    return f"it lacked traffic: {arrived} answers came, and {pairs_judged}"


def findings(audit: Audit, pairs: Sequence[Pair], plan: Plan) -> tuple[Finding, ...]:
    """Returns an open finding for each rubric that dropped, with the five worst traces."""
    return tuple(
        _finding(audit, result, pairs, plan)
        for result in audit.results
        if result.state is AuditState.DROPPED
    )


def with_end(finding: Finding, audits: Iterable[Audit], now: int) -> Finding:
    """Ends the finding where a later audit showed a gain, or after a day.

    A confirmed drop has no signal that would show its end, so it ends by time.
    """
    gains = [
        result.decided_unix_nano or audit.ended_unix_nano or now
        for audit in audits
        if (audit.service, audit.environment) == (finding.service, finding.environment)
        and audit.anchor_unix_nano > finding.since_unix_nano
        and (not audit.routes or set(audit.routes) & set(finding.routes))
        for result in audit.results
        if result.rubric == finding.signal and result.low is not None and result.low > 0
    ]
    until = finding.seen_unix_nano + OPEN_HOURS * 3600 * 10**9
    return replace(
        finding, cleared_unix_nano=min([*gains, *([until] if until <= now else [])], default=0)
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
    """The traces from after with the lowest scores; of equal ones, those best matched before."""
    scored = [
        (after.value, -other.value, pair.after.trace_id)
        for pair in pairs
        for after in pair.after.verdicts
        for other in pair.before.verdicts
        if after.rubric == other.rubric == rubric
        and after.value is not None
        and other.value is not None
    ]
    return tuple(trace_id for _, _, trace_id in sorted(scored)[:TRACES])


def _current(result: AuditResult) -> str:
    """`groundedness -3 [-9, +3]`."""
    assert result.change is not None
    assert result.low is not None
    assert result.high is not None
    signed = [_signed(value) for value in (result.change, result.low, result.high)]
    return f"{result.rubric} {signed[0]} [{signed[1]}, {signed[2]}]"


def _signed(value: float) -> str:
    points = round(100 * value)
    return f"{points:+d}" if points else "0"


def _points(value: float) -> str:
    return str(round(100 * value))
