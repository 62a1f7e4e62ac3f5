"""Writes the log of acts: who did what, when, and from where."""

from __future__ import annotations

from fastapi import Request

from ragvigil.store.watch import acts
from ragvigil.store.watch.acts import Act
from ragvigil.web.errors import is_of_api
from ragvigil.web.identity import Person


def write_act(request: Request, verb: str, thing: str, person: Person | None = None) -> None:
    """Writes that a person has done `verb` to `thing`, a path such as `issues/ID`.

    `person` is who sent the request where it is None. Returns when it is durable.
    """
    state = request.app.state
    who: Person = person or request.state.person
    acts.write(
        state.store,
        Act(
            time_unix_nano=int(state.clock().timestamp() * 1e6) * 1000,
            person=who.name,
            role=who.role,
            verb=verb,
            thing=thing,
            place="api" if is_of_api(request.url.path) else "page",
        ),
    )
