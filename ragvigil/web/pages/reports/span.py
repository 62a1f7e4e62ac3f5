"""The time that a report is of: that of the scope where the reader has chosen one."""

from __future__ import annotations

from ragvigil.web.scope import DEFAULT_TIME, Scope


def since_of(scope: Scope, usual: str) -> str:
    """The begin of the chosen time; `usual` where the reader has chosen none.

    Other pages begin with a day: a report of a day says next to nothing.
    """
    return usual if scope.since == DEFAULT_TIME and not scope.until else scope.since
