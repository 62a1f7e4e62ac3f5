"""`/api/v1/ids`: the whole id where people type its first characters."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel

from ragvigil.store.records import ids as stored
from ragvigil.web.permissions import Permission, Requires

router = APIRouter(prefix="/api/v1")


class IdsForm(BaseModel):
    """Ids, in order."""

    ids: list[str]


@router.get(
    "/ids/{kind}",
    summary="Ids of traces, issues or incidents that begin with a text",
    dependencies=[Depends(Requires(Permission.READ))],
)
def ids(
    request: Request,
    kind: stored.IdKind,
    prefix: Annotated[str, Query(max_length=64)],
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
) -> IdsForm:
    """The first few; an issue that was merged into another counts."""
    return IdsForm(ids=stored.starting_with(request.app.state.store, kind, prefix, limit))
