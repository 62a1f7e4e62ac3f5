"""`/api/v1/erasures`: erases a trace, a user or a session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Protocol

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field, model_validator

from ragvigil.store.engine.erased import Subject
from ragvigil.store.erasure.erasures import ErasureState
from ragvigil.web.acts import write_act
from ragvigil.web.permissions import Permission, Requires

router = APIRouter(prefix="/api/v1")

OFF = "this daemon erases nothing"
TRACE_DIGITS = 32


class ErasurePost(BaseModel):
    """What to erase."""

    model_config = ConfigDict(extra="forbid")

    kind: Subject
    id: str = Field(
        min_length=1, max_length=1024, description="the id as it is stored, after redaction"
    )

    @model_validator(mode="after")
    def _is_whole(self) -> ErasurePost:
        digits = set("0123456789abcdef")
        is_whole = len(self.id) == TRACE_DIGITS and set(self.id) <= digits
        if self.kind is Subject.TRACE and not is_whole:
            raise ValueError("the id of a trace is 32 hexadecimal digits, in small letters")
        return self


class ErasureForm(BaseModel):
    """How far an erasure is."""

    id: str
    kind: Subject
    state: ErasureState
    step: str = Field(description="what it does now; where it failed, why")
    traces: int = Field(description="traces that were found")
    rows: dict[str, int] = Field(
        description="what was removed: rows by table, `judge_replies`, `quarantined_requests`"
    )
    golden_cases: list[str] = Field(
        description="cases of the golden set that were made of these traces, which stay: "
        "a person decides about them, here and in git"
    )
    is_in_spool: bool = Field(
        description="whether the spool has not dropped yet what it had then; it does so by itself"
    )


class ErasuresForm(BaseModel):
    """Erasures, the newest first."""

    erasures: list[ErasureForm]


class ErasureSource(Protocol):
    """Erases; the composition root provides it."""

    def begin(self, subject: Subject, id_: str) -> ErasureForm:
        """Begins an erasure and returns at once."""
        ...

    def find(self, erasure_id: str) -> ErasureForm | None:
        """How far an erasure is; None where there is none."""
        ...

    def newest(self, limit: int) -> Sequence[ErasureForm]:
        """The newest erasures."""
        ...


@router.post(
    "/erasures",
    summary="Erase a trace, or everything of a user or a session received so far",
    status_code=202,
    dependencies=[Depends(Requires(Permission.ADMINISTER))],
)
def erase(request: Request, post: ErasurePost) -> ErasureForm:
    """Begins. It cannot be stopped, nor undone; ask for its id until it is `done`."""
    begun = _source(request).begin(post.kind, post.id)
    write_act(request, "erase", f"erasures/{begun.id}")
    return begun


@router.get(
    "/erasures",
    summary="Erasures",
    dependencies=[Depends(Requires(Permission.ADMINISTER))],
)
def erasures(request: Request, limit: Annotated[int, Query(ge=1, le=1000)] = 100) -> ErasuresForm:
    """Newest first; what was erased stands there as a hash alone."""
    return ErasuresForm(erasures=list(_source(request).newest(limit)))


@router.get(
    "/erasures/{erasure_id}",
    summary="How far an erasure is",
    dependencies=[Depends(Requires(Permission.ADMINISTER))],
)
def erasure(
    request: Request, erasure_id: Annotated[str, Path(pattern="^[0-9a-f]{16}$")]
) -> ErasureForm:
    """What it removed, by table."""
    found = _source(request).find(erasure_id)
    if found is None:
        raise HTTPException(404, f"there is no erasure {erasure_id}")
    return found


def _source(request: Request) -> ErasureSource:
    source: ErasureSource | None = request.app.state.erasures
    if source is None:
        raise HTTPException(404, OFF)
    return source
