"""Who may do what: roles, permissions, and the declaration that every route carries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from fastapi import HTTPException, Request

from ragvigil.web.access import TOKEN_NEEDED
from ragvigil.web.identity import Person, Role


class Permission(StrEnum):
    """What a route needs."""

    NONE = "none"
    """Nothing: the runbook, the page to sign in."""
    READ = "read"
    """Traces with their texts, means, states."""
    POST = "post"
    """Feedback and deploys."""
    LABEL = "label"
    """Labels, which decide whether a judge is trusted."""
    TRIAGE = "triage"
    APPROVE = "approve"
    ADMINISTER = "administer"


_READS = frozenset({Permission.NONE, Permission.READ})
_TRIAGES = _READS | {Permission.POST, Permission.LABEL, Permission.TRIAGE}

ROLES: Mapping[Role, frozenset[Permission]] = {
    Role.INGEST: frozenset({Permission.NONE, Permission.POST}),
    Role.READER: _READS,
    Role.TRIAGER: _TRIAGES,
    Role.APPROVER: _TRIAGES | {Permission.APPROVE},
    Role.ADMIN: frozenset(Permission),
}


@dataclass(frozen=True)
class Requires:
    """The permission of a route, as a dependency.

    Without an identity: 401, or for a page the way to sign in. With too weak a one: 403.
    """

    permission: Permission

    def __call__(self, request: Request) -> None:
        """Raises HTTPException where the request has no such permission."""
        person: Person | None = request.state.person
        if self.permission is Permission.NONE:
            return
        if person is None:
            status, headers = request.app.state.access.challenge(request.scope)
            raise HTTPException(status, TOKEN_NEEDED, headers)
        if self.permission not in ROLES[person.role]:
            raise HTTPException(403, f"the role {person.role} may not {self.permission}")
