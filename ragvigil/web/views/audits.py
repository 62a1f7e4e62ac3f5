"""Change audits as the API shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from pydantic import BaseModel, Field

from ragvigil.model.audit import Audit, AuditState, Pair
from ragvigil.model.notice import Cause
from ragvigil.model.score import Layer
from ragvigil.store.records.record_forms import time_of
from ragvigil.web.views.values import view


class AuditResultForm(BaseModel):
    """One rubric of an audit; means of the same pairs, null while nothing is judged."""

    rubric: str
    layer: Layer
    state: AuditState = Field(
        description="dropped: confirmed; steady: no drop that matters; undecided: neither"
    )
    n: int = Field(description="pairs that both sides of have a value")
    before: float | None
    after: float | None
    change: float | None
    low: float | None = Field(description="of the change, 95 %, valid at every look")
    high: float | None
    decided: datetime | None


class AuditRouteForm(BaseModel):
    """A route under audit, and from when on it shows the change."""

    route: str
    since: datetime


class AuditForm(BaseModel):
    """A change under audit."""

    audit_id: str
    service: str
    environment: str
    anchor: datetime = Field(description="the time that divides before from after")
    started: datetime
    ended: datetime | None
    routes: list[AuditRouteForm] = Field(description="empty: all of the service")
    reason: str
    sources: list[str] = Field(description="ids of the notices, marks and findings behind it")
    causes: list[Cause]
    state: AuditState
    pairs: int
    results: list[AuditResultForm]
    progress: str = Field(description="what it can show by when; at its end, the result")
    why: str = Field(description="why it ended undecided")


class AuditsForm(BaseModel):
    """Audits, the newest first."""

    audits: list[AuditForm]


class AuditVerdictForm(BaseModel):
    """The judge's verdict on a record; null is no verdict, and `label` says why."""

    rubric: str
    value: float | None
    label: str
    scorer: str
    version: str


class AuditSideForm(BaseModel):
    """A record of a pair."""

    trace_id: str
    record_id: str
    route: str
    verdicts: list[AuditVerdictForm]


class AuditPairForm(BaseModel):
    """A record from after the change, and the most similar question from before."""

    number: int
    likeness: float
    before: AuditSideForm
    after: AuditSideForm


class AuditDetailForm(BaseModel):
    """An audit with everything it rests on."""

    audit: AuditForm
    pairs: list[AuditPairForm]


def audit_form(audit: Audit) -> AuditForm:
    """An audit as the API shows it."""
    onsets = zip(audit.routes, audit.since_unix_nano, strict=True)
    return view(
        AuditForm,
        audit,
        routes=[AuditRouteForm(route=route, since=time_of(since)) for route, since in onsets],
        results=[view(AuditResultForm, result) for result in audit.results],
    )


def pair_forms(pairs: Sequence[Pair]) -> list[AuditPairForm]:
    """The pairs of an audit, with both sides' verdicts."""
    return [AuditPairForm.model_validate(asdict(pair)) for pair in pairs]
