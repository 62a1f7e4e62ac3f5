"""What a daemon does, and the name under which it does it."""

from __future__ import annotations

import secrets
import socket
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, field_validator

from collector.spool.directory import checkpoint_name


class Role(StrEnum):
    """A part of the work; by default a daemon is edge and analyst."""

    EDGE = "edge"
    """Receives, redacts, spools, assembles, scores, judges; runs local models where no scorer
    lives."""
    ANALYST = "analyst"
    """Rolls up, watches, groups, explains; serves pages and the series' metrics."""
    SCORER = "scorer"
    """Scores by local models what others stored."""

    def __repr__(self) -> str:
        return repr(self.value)


ROLES_OF_ONE = (Role.EDGE, Role.ANALYST)
"""What a daemon by itself does; its local models run beside its pipeline."""


class FleetSettings(BaseModel):
    """This daemon's part in a fleet: many edges, one analyst, one ClickHouse server."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    roles: tuple[Role, ...] = Field(
        default=ROLES_OF_ONE,
        description="`edge` receives, scores and stores spans, `analyst` watches what is stored "
        "and serves pages, `scorer` runs the local models for all; a fleet has many edges, one "
        "analyst that leads, others standing by, and no or some scorers",
    )
    replica: str = Field(
        default="",
        max_length=200,
        pattern=r"^[\w.-]*$",
        description="name of this daemon in the rows of a ClickHouse server, no two the same; the "
        "default is the host's name and six digits, kept in data_dir",
    )

    @field_validator("roles")
    @classmethod
    def _in_order(cls, roles: tuple[Role, ...]) -> tuple[Role, ...]:
        if not roles:
            raise ValueError(f"must name one of {', '.join(Role)}, or several")
        return tuple(role for role in Role if role in roles)


def replica_of(data_dir: Path, url: str, name: str = "") -> str:
    """The daemon's name in the rows that it writes; empty in an embedded store.

    `name` is the setting. Without it the name is made once and kept in `data_dir`. A folder that
    has a spool and no name keeps the empty one: its rows on the server have it, and its books go
    by it.
    """
    if not url or name:
        return name if url else ""
    file = data_dir / "replica"
    if file.exists():
        return file.read_text(encoding="utf-8").strip()
    made = "" if (data_dir / "spool" / checkpoint_name("core")).exists() else _made()
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    file.write_text(f"{made}\n", encoding="utf-8")
    return made


def _made() -> str:
    host = "".join(each if each.isalnum() or each in "-." else "-" for each in socket.gethostname())
    return f"{host[:100]}-{secrets.token_hex(3)}"
