"""`/api/v1/audits`: what the judge says of answers from before and after a change."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.exceptions import HTTPException

from ragvigil.store.watch import audits
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.times import point_of_time
from ragvigil.web.views.audits import AuditDetailForm, AuditsForm, audit_form, pair_forms

router = APIRouter(prefix="/api/v1")

LATEST = 2**32 - 1
"""The last second that fits the query's UInt32 parameter."""


@router.get(
    "/audits",
    summary="Change audits: the judge compares answers from before and after a change",
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
    """The newest first, running audits included."""
    start = point_of_time(since, request.app.state.clock())
    found = audits.find(
        request.app.state.store,
        since=min(int(start.timestamp()), LATEST),
        service=service,
        limit=limit,
    )
    return AuditsForm(audits=[audit_form(audit) for audit in found])


@router.get(
    "/audits/{audit_id}",
    summary="One audit, with every pair of answers and the judge's verdicts",
    dependencies=[Depends(Requires(Permission.READ))],
)
def one_audit(
    request: Request, audit_id: Annotated[str, Path(min_length=1, max_length=64)]
) -> AuditDetailForm:
    """404 for an unknown id."""
    store = request.app.state.store
    matches = audits.find(store, audit_id=audit_id, limit=1)
    if not matches:
        raise HTTPException(404, f"there is no audit {audit_id}")
    pairs = audits.pairs_of(store, audit_id)
    return AuditDetailForm(audit=audit_form(matches[0]), pairs=pair_forms(pairs))
