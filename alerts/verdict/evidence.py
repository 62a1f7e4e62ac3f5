"""What a verdict weighs: rubrics measured before and after, signals, and changes. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from alerts.audits.confidence import radius
from alerts.audits.decide import INTERVAL
from alerts.verdict.leaves import Rubric
from ragvigil.model.audit import Audit, AuditResult
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.incident import Incident
from ragvigil.model.notice import Notice

MINUTE = 60 * 10**9
TOGETHER = 30 * MINUTE
"""Nanoseconds between an incident's onset and the change of an audit that tells of it."""
NORMAL = 1.96
"""Standard errors from the middle of a 95 % interval to its ends."""
NONE_HELD: Mapping[str, Sequence[str]] = MappingProxyType({})
"""What held beside each finding, by its id: nothing is known of any."""
AUDITED, SAMPLE = "the audit", "the judge's sample"
"""By what a rubric was measured."""
RUBRICS = frozenset(rubric.value for rubric in Rubric)


class State(StrEnum):
    """What measuring a rubric has shown."""

    DROPPED = "dropped"
    STEADY = "steady"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One rubric before and after: the change, its standard error, and the answers or pairs."""

    rubric: Rubric
    change: float
    error: float
    n: int
    by: str = AUDITED

    def state(self, largest_drop: float) -> State:
        """Whether it dropped, or was tested and held beside the largest drop of the incident."""
        if self.change + 2.326 * self.error < -0.005:
            return State.DROPPED
        is_held = self.change - NORMAL * self.error > -max(0.02, largest_drop / 2)
        return State.STEADY if is_held else State.UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that is known of one incident; of each rubric at most one measurement."""

    measured: tuple[Measured, ...] = ()
    signals: tuple[Finding, ...] = ()
    notices: tuple[Notice, ...] = ()
    held: tuple[str, ...] = ()
    is_blind: bool = False
    goes_with: tuple[str, ...] = ()


def evidence_of(
    incident: Incident,
    findings: Collection[Finding],
    changes: Sequence[Notice],
    audits: Iterable[Audit],
    held: Mapping[str, Sequence[str]] = NONE_HELD,
) -> Evidence:
    """The evidence on an incident: `findings` are its worse ones, `changes` those behind it.

    `held` names the numbers that kept their levels beside a finding, by its id.
    An audit's measurement goes before that of a detector on the judge's sample. A finding that is
    itself a change speaks only where nothing else does.
    """
    witnesses = [finding for finding in findings if not is_blind(finding)]
    facts = [finding for finding in witnesses if finding.kind is not FindingKind.CHANGED]
    sampled = [measured for finding in facts if (measured := _of_finding(finding)) is not None]
    about, beside = _about(incident, changes, audits)
    not_fallen = [each for each in _measured(beside) if each.state(0.0) is not State.DROPPED]
    audited = [*_measured(about), *not_fallen]
    best: dict[Rubric, Measured] = {}
    for measured in (*sampled, *audited):
        known = best.get(measured.rubric)
        # Of several audits of one change the one that judged more.
        if known is None or known.by != measured.by or known.n <= measured.n:
            best[measured.rubric] = measured
    return Evidence(
        measured=tuple(best[rubric] for rubric in Rubric if rubric in best),
        signals=tuple(
            finding
            for finding in facts or witnesses
            if finding.kind is not FindingKind.AUDIT and _of_finding(finding) is None
        ),
        notices=tuple(changes),
        held=tuple(
            sorted({name for finding in facts for name in held.get(finding.finding_id, ())})
        ),
        is_blind=bool(findings) and not witnesses,
        goes_with=tuple(words for audit in about for words in audit.goes_with),
    )


def is_blind(finding: Finding) -> bool:
    """Whether a finding tells of the instrumentation, not of the service."""
    return finding.kind is FindingKind.BLIND


def of_result(result: AuditResult) -> Measured | None:
    """An audit's result as a measurement; None before its first pair, or for another rubric.

    The bounds of an audit hold at every look, so the standard error is that of the differences
    that would have these bounds (alerts/audits/confidence.py).
    """
    if result.rubric not in RUBRICS or result.change is None or not result.n:
        return None
    assert result.low is not None
    assert result.high is not None
    half = max(result.change - result.low, result.high - result.change)
    deviation = half / radius(result.n, 1.0, INTERVAL)
    return Measured(
        rubric=Rubric(result.rubric),
        change=result.change,
        error=deviation / math.sqrt(result.n),
        n=result.n,
    )


def _of_finding(finding: Finding) -> Measured | None:
    """The measurement of a drop that a detector of sustained drops, or an audit, found.

    A local model's scores have a scale of their own: that they fell is a signal.
    """
    is_measured = finding.kind in (FindingKind.DRIFT, FindingKind.AUDIT)
    if finding.signal not in RUBRICS or not is_measured or finding.is_local:
        return None
    value, reference, low, high = finding.value, finding.reference, finding.low, finding.high
    if value is None or reference is None or low is None or high is None:
        return None
    return Measured(
        rubric=Rubric(finding.signal),
        change=value - reference,
        error=max(high - low, 0.0) / 2 / NORMAL,
        n=finding.n,
        by=SAMPLE,
    )


def _measured(audits: Iterable[Audit]) -> list[Measured]:
    results = (result for audit in audits for result in audit.results)
    return [measured for result in results if (measured := of_result(result)) is not None]


def _about(
    incident: Incident, changes: Sequence[Notice], audits: Iterable[Audit]
) -> tuple[list[Audit], list[Audit]]:
    """The audits of an incident, and without these the audits beside it.

    Its own were started by what it has, or by a change of its minutes and routes that may be
    anything, a release. Those beside it answer for a change of another incident: what dropped there
    dropped because of that, and only what held tells of this one.
    """
    sources = {finding.finding_id for finding in incident.findings}
    sources |= {change.notice_id for change in changes}
    own = {finding.finding_id for finding in incident.findings}
    place = (incident.service, incident.environment)
    near = [
        audit
        for audit in audits
        if (audit.service, audit.environment) == place
        and abs(audit.anchor_unix_nano - incident.since_unix_nano) <= TOGETHER
        and _shares_a_route(audit, incident)
    ]
    named = [
        audit
        for audit in near
        if sources & set(audit.sources)
        or any(f"audit-{audit.audit_id}-{result.rubric}" in own for result in audit.results)
    ]
    if named:
        return named, []
    return [audit for audit in near if not audit.causes], [audit for audit in near if audit.causes]


def _shares_a_route(audit: Audit, incident: Incident) -> bool:
    routes = {route for finding in incident.findings for route in finding.routes if route}
    return not audit.routes or not routes or not routes.isdisjoint(audit.routes)
