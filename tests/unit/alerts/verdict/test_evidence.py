"""What of an incident, its changes and audits is evidence on its layer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from alerts.verdict.evidence import Evidence, State, evidence_of, of_result
from alerts.verdict.leaves import Rubric
from ragvigil.model.audit import Audit, AuditResult, AuditState
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.score import Layer
from tests.unit.alerts.incident_values import at, finding, folded, moved

DRIFT = finding(
    "d", kind=FindingKind.DRIFT, signal="groundedness", layer=Layer.GENERATION,
    value=0.7, reference=0.8, low=-0.2, high=0.0, n=90,
)  # fmt: skip


def result(rubric: str = "groundedness", change: float = -0.1, n: int = 200) -> AuditResult:
    return AuditResult(
        rubric=rubric, layer=Layer.GENERATION, state=AuditState.RUNNING, n=n,
        before=0.8, after=0.8 + change, change=change, low=change - 0.08, high=change + 0.08,
    )  # fmt: skip


def audit(name: str = "x", minutes: float = 0, *results: AuditResult, **known: object) -> Audit:
    given: dict[str, object] = {"service": "desk", "environment": "prod", **known}
    return Audit(
        audit_id=name, anchor_unix_nano=at(minutes), started_unix_nano=at(minutes),
        results=results or (result(),), **given,
    )  # type: ignore[arg-type]  # fmt: skip


def evidence(*findings: Finding, audits: tuple[Audit, ...] = ()) -> Evidence:
    (incident, *_), _ = folded((), list(findings), 5)
    whole = replace(incident, findings=tuple(findings))
    return evidence_of(whole, findings, (), audits)


def test_an_audit_that_runs_counts_and_goes_before_the_sample() -> None:
    alone = evidence(DRIFT)
    assert [(each.by, each.n) for each in alone.measured] == [("the judge's sample", 90)]
    audited = evidence(DRIFT, audits=(audit(),))
    assert [(each.by, each.n) for each in audited.measured] == [("the audit", 200)]


@pytest.mark.parametrize(
    "other",
    [
        audit("far", 90),
        audit("elsewhere", 0, routes=("/other",), since_unix_nano=(at(0),)),
        audit("stranger", 0, service="another"),
    ],
)
def test_an_audit_of_another_time_route_or_service_is_no_evidence(other: Audit) -> None:
    assert evidence(moved("m"), audits=(other,)).measured == ()


def test_an_audit_that_the_incident_started_goes_before_its_neighbours() -> None:
    own = audit("own", 0, result(change=-0.2), sources=("m",))
    near = audit("near", 5, result(change=0.0))
    (measured,) = evidence(moved("m"), audits=(near, own)).measured
    assert measured.change == pytest.approx(-0.2)


def test_the_error_of_an_audit_is_that_of_its_differences() -> None:
    """Its bounds hold at every look, so they are wider than 1.96 standard errors."""
    measured = of_result(result())
    assert measured is not None
    assert 0.02 < measured.error < 0.08 / 1.96
    assert of_result(AuditResult(rubric="groundedness", layer=Layer.GENERATION)) is None
    assert of_result(replace(result(), rubric="own_rubric")) is None


def test_a_rubric_is_dropped_steady_or_unknown() -> None:
    measured = of_result(result())
    assert measured is not None
    states = [
        replace(measured, change=change, error=error).state(largest_drop=0.1)
        for change, error in ((-0.1, 0.02), (0.0, 0.01), (-0.02, 0.05))
    ]
    assert states == [State.DROPPED, State.STEADY, State.UNKNOWN]
    assert measured.rubric is Rubric.GROUNDED


def test_what_is_no_longer_sent_is_no_witness() -> None:
    blind = finding("b", kind=FindingKind.BLIND, signal="document_texts")
    assert evidence(blind).is_blind
    beside = evidence(blind, moved("m", signal="citations"))
    assert not beside.is_blind
    assert [each.signal for each in beside.signals] == ["citations"]


def test_a_finding_that_is_itself_a_change_speaks_only_alone() -> None:
    change = finding("c", kind=FindingKind.CHANGED, signal="prompt")
    assert [each.finding_id for each in evidence(change).signals] == ["c"]
    assert [each.finding_id for each in evidence(change, moved("m")).signals] == ["m"]
