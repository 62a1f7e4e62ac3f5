"""What reads for a request: the rest of the daemon gives way, and its queries are a page's."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from starlette.types import ASGIApp, Receive, Scope, Send

from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.scope import QueryScope
from ragvigil.web.guard import READING

First = Callable[[], AbstractContextManager[object]]


class FirstServed:
    """ASGI middleware: holds what `first` returns while it answers, in a scope of queries.

    What a page reads waits for no write and no job. A request that changes something reads what
    jobs read too as they do, after the batches that were queued before it.
    """

    def __init__(self, app: ASGIApp, first: First) -> None:
        self._app, self._first = app, first

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        queries = QueryScope(Priority.PAGE if scope.get("method") in READING else None)
        with self._first(), queries.running():
            await self._app(scope, receive, send)
