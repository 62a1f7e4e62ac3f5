"""`/api/v1/digest`: what a person should read, decide and renew this week."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from ragvigil.store.issues import golden
from ragvigil.store.reports import failures_to_read
from ragvigil.web.api.topics import topics
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.times import point_of_time
from ragvigil.web.views.reports import digest as views
from ragvigil.web.views.reports.digest import DigestForm

router = APIRouter(prefix="/api/v1")

FAILURES = 10
Name = Annotated[str, Query(max_length=256)]


@router.get(
    "/digest",
    summary="The week: failures to read, uncovered topics, proposals, age of the set, judges",
    dependencies=[Depends(Requires(Permission.READ))],
)
def digest(
    request: Request,
    service: Name = "",
    environment: Name = "",
    since: Annotated[
        str,
        Query(max_length=40, description="ISO 8601, epoch seconds, or how long ago: 30m, 6h, 7d"),
    ] = "7d",
) -> DigestForm:
    """Failures are since a time; the rest is as it stands. Judges are of all services."""
    now, store = request.app.state.clock(), request.app.state.store
    start = point_of_time(since, now)
    return views.digest(
        start,
        now,
        failures=failures_to_read.read(
            store, int(start.timestamp()), FAILURES, service, environment
        ),
        maps=topics(request, service, environment).maps,
        cases=[
            case
            for case in golden.find(store, golden.CaseFilter(service=service))
            if environment in ("", case.environment)
        ],
        judges=request.app.state.judges.judges(),
    )
