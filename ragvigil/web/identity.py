"""Who asks: a person with a role, and how the request shows it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragvigil.web.sessions import Session


class Role(StrEnum):
    """A role of a person; `permissions.py` says what each may do."""

    INGEST = "ingest"
    READER = "reader"
    TRIAGER = "triager"
    APPROVER = "approver"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Whoever sent a request; acts are written under this name.

    `tags` bound what an approver may sign; empty is no bound.
    """

    name: str
    role: Role
    tags: frozenset[str] = frozenset()


LOCAL = Person(name="local", role=Role.ADMIN)
"""Everybody, where the settings ask for no token: on loopback alone."""


class Way(StrEnum):
    """How a request shows whose it is."""

    LOCAL = "local"
    """It need not."""
    TOKEN = "token"
    """By `Authorization: Bearer`, which only a program of that person's writes."""
    SESSION = "session"
    """By a cookie, which the browser adds whoever made the request."""
    PROXY = "proxy"
    """By a trusted proxy's header, which the proxy adds whoever made the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A person, and how the request shows it; `session` is that of a cookie."""

    person: Person
    way: Way
    session: Session | None = None

    @property
    def form_owner(self) -> str:
        """Whose forms these are: another session's or person's form is not taken."""
        return self.session.session_id if self.session else f"{self.way} {self.person.name}"
