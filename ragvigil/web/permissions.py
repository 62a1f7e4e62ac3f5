"""Who may do what: roles, permissions, and the declaration that every route carries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from fastapi import HTTPException, Request

from ragvigil.model.token import bearer, is_same
from ragvigil.web.identity import Person
from ragvigil.web.settings import Role

TOKEN_NEEDED = "a token is needed: Authorization: Bearer TOKEN"


class Permission(StrEnum):
    """What a route needs."""

    NONE = "none"
    """Nothing: the home page."""
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


class Access:
    """Finds the role of a request by its bearer token.

    `roles` is None where the settings give no token: then everybody is admin. No token at all is
    not the same as no roles: an empty mapping lets nobody in.
    """

    def __init__(self, roles: Mapping[str, Role] | None) -> None:
        self._roles = roles

    def role(self, *authorizations: str) -> Role | None:
        """The role of a request's `Authorization` headers, None unless it has one known token.

        All tokens are compared, each in constant time, so that timing reveals none of them.
        """
        if self._roles is None:
            return Role.ADMIN
        sent = bearer(authorizations[0]) if len(authorizations) == 1 else ""
        matches = [role for token, role in self._roles.items() if is_same(token, sent)]
        return matches[0] if matches else None


@dataclass(frozen=True)
class Requires:
    """The permission of a route, as a dependency; 401 without a token, 403 with a weak one."""

    permission: Permission

    def __call__(self, request: Request) -> None:
        """Raises HTTPException where the request has no such permission."""
        access: Access = request.app.state.access
        role = access.role(*request.headers.getlist("authorization"))
        request.state.person = Person(name=str(role or ""), role=role or Role.READER)
        request.state.form_token = ""
        if self.permission is Permission.NONE:
            return
        if role is None:
            raise HTTPException(
                401,
                TOKEN_NEEDED,
                {"www-authenticate": "Bearer"},
            )
        if self.permission not in ROLES[role]:
            raise HTTPException(403, f"the role {role} may not {self.permission}")
