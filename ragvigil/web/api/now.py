"""Is something wrong? `/api/v1/now`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from ragvigil.web.api.incidents import IncidentSource
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.views.chrome import chrome
from ragvigil.web.views.triage.now import now_form
from ragvigil.web.views.triage.now_form import NowForm
from ragvigil.web.views.triage.reading import NowFilter, read_now

router = APIRouter(prefix="/api/v1")

Name = Annotated[str, Query(max_length=256)]


@router.get(
    "/now",
    summary="Is something wrong? Open incidents, every route by layer, what changed and what runs",
    dependencies=[Depends(Requires(Permission.READ))],
)
def now(request: Request, service: Name = "", environment: Name = "", route: Name = "") -> NowForm:
    """What the page Now says, in sentences and numbers; an empty name matches all."""
    state = request.app.state
    moment = state.clock()
    source: IncidentSource | None = state.incidents
    known = read_now(
        state.store,
        NowFilter(service=service, environment=environment, route=route),
        moment,
        places=chrome(state.store, moment.timestamp()).places,
        lines=source.lines if source else lambda _: (),
    )
    return now_form(known)
