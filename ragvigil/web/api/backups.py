"""`/api/v1/backups`: copies of the embedded store, made while it is written."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Protocol

from fastapi import APIRouter, Depends, HTTPException, Path, Request
from pydantic import BaseModel, ConfigDict, Field

from ragvigil.web.acts import write_act
from ragvigil.web.permissions import Permission, Requires

router = APIRouter(prefix="/api/v1")

NAME = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"


class BackupRefused(Exception):
    """A backup cannot begin; `str(error)` is the sentence."""


class BackupPost(BaseModel):
    """A new backup."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(pattern=NAME, description="the name of its folder")


class BackupForm(BaseModel):
    """How far a backup is."""

    name: str
    state: Literal["running", "done", "failed"]
    folder: str = Field(description="on the daemon's machine")
    problem: str = Field(description="why it failed")
    made: datetime | None


class BackupSource(Protocol):
    """Makes backups; the composition root provides it."""

    def begin(self, name: str) -> BackupForm:
        """Begins one. Raises BackupRefused."""
        ...

    def find(self, name: str) -> BackupForm | None:
        """How far one is; None where there is none."""
        ...


@router.post(
    "/backups",
    summary="Copy the embedded store into a folder of the daemon's machine",
    status_code=202,
    dependencies=[Depends(Requires(Permission.ADMINISTER))],
)
def begin(request: Request, post: BackupPost) -> BackupForm:
    """Begins; it has what is stored by now. Ask for its name until it is `done`."""
    try:
        begun = _source(request).begin(post.name)
    except BackupRefused as error:
        raise HTTPException(409, str(error)) from error
    write_act(request, "back up", f"backups/{post.name}")
    return begun


@router.get(
    "/backups/{name}",
    summary="How far a backup is",
    dependencies=[Depends(Requires(Permission.ADMINISTER))],
)
def backup(request: Request, name: Annotated[str, Path(pattern=NAME)]) -> BackupForm:
    """`done` once everything is in its folder."""
    found = _source(request).find(name)
    if found is None:
        raise HTTPException(404, f"there is no backup {name}")
    return found


def _source(request: Request) -> BackupSource:
    source: BackupSource | None = request.app.state.backups
    if source is None:
        raise HTTPException(404, "this daemon makes no backups")
    return source
