"""`/api/v1/audits`: the judge, before against after a change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from ragvigil.model.audit import Audit, AuditResult, AuditState, Pair, Side
from ragvigil.model.notice import Cause
from ragvigil.model.score import Layer
from ragvigil.store.records.record_forms import time_of
from ragvigil.store.watch import audits
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.times import point_of_time

router = APIRouter(prefix="/api/v1")

LATEST = 2**32 - 1
"""Seconds that the query can hold."""


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
    low: float | None = Field(description="of the change, 95 %, at every look")
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
    anchor: datetime = Field(description="before and after are told from here")
    started: datetime
    ended: datetime | None
    routes: list[AuditRouteForm] = Field(description="empty: all of the service")
    reason: str
    sources: list[str] = Field(description="ids of the notices, marks and findings behind it")
    causes: list[Cause]
    state: AuditState
    pairs: int
    results: list[AuditResultForm]
    progress: str = Field(description="what it could show by when; at its end, what it found")
    why: str = Field(description="why it ended undecided")


class AuditsForm(BaseModel):
    """Audits, the newest first."""

    audits: list[AuditForm]


class AuditVerdictForm(BaseModel):
    """What the judge said of a record; null is no verdict and says why in `label`."""

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
    """A record from after the change, and the one from before that was asked most alike."""

    number: int
    likeness: float
    before: AuditSideForm
    after: AuditSideForm


class AuditDetailForm(BaseModel):
    """An audit with everything it rests on."""

    audit: AuditForm
    pairs: list[AuditPairForm]


@router.get(
    "/audits",
    summary="Changes that the judge compared, before against after",
    dependencies=[Depends(Requires(Permission.READ))],
)
def find_audits(
    request: Request,
    service: Annotated[str, Query(max_length=256)] = "",
    since: Annotated[
        str, Query(max_length=40, description="started since: ISO 8601, epoch seconds, 6h")
    ] = "7d",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> AuditsForm:
    """The newest first; those that run are among them."""
    start = point_of_time(since, request.app.state.clock())
    found = audits.find(
        request.app.state.store,
        since=min(int(start.timestamp()), LATEST),
        service=service,
        limit=limit,
    )
    return AuditsForm(audits=[_form(one) for one in found])


@router.get(
    "/audits/{audit_id}",
    summary="One audit, with every pair of records and what the judge said of them",
    dependencies=[Depends(Requires(Permission.READ))],
)
def one_audit(
    request: Request, audit_id: Annotated[str, Path(min_length=1, max_length=64)]
) -> AuditDetailForm:
    """404 where there is none of this id."""
    store = request.app.state.store
    found = audits.find(store, audit_id=audit_id, limit=1)
    if not found:
        raise HTTPException(404, f"there is no audit {audit_id}")
    pairs = audits.pairs_of(store, audit_id)
    return AuditDetailForm(audit=_form(found[0]), pairs=_pairs(pairs))


def _form(one: Audit) -> AuditForm:
    beside = zip(one.routes, one.since_unix_nano, strict=True)
    return AuditForm(
        audit_id=one.audit_id,
        service=one.service,
        environment=one.environment,
        anchor=time_of(one.anchor_unix_nano),
        started=time_of(one.started_unix_nano),
        ended=time_of(one.ended_unix_nano) if one.ended_unix_nano else None,
        routes=[AuditRouteForm(route=route, since=time_of(since)) for route, since in beside],
        reason=one.reason,
        sources=list(one.sources),
        causes=list(one.causes),
        state=one.state,
        pairs=one.pairs,
        results=[_result(result) for result in one.results],
        progress=one.progress,
        why=one.why,
    )


def _result(one: AuditResult) -> AuditResultForm:
    values = asdict(one)
    decided = values.pop("decided_unix_nano")
    return AuditResultForm(**values, decided=time_of(decided) if decided else None)


def _pairs(pairs: Sequence[Pair]) -> list[AuditPairForm]:
    return [
        AuditPairForm(
            number=one.number,
            likeness=one.likeness,
            before=_side(one.before),
            after=_side(one.after),
        )
        for one in pairs
    ]


def _side(one: Side) -> AuditSideForm:
    return AuditSideForm.model_validate(asdict(one))
