"""Who asks: a person with a role."""

from __future__ import annotations

from dataclasses import dataclass

from ragvigil.web.settings import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Whoever sent a request; acts are written under this name.

    `tags` bound what an approver may sign; empty is no bound.
    """

    name: str
    role: Role
    tags: frozenset[str] = frozenset()
