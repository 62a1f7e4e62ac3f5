"""Tells the rest of the daemon for how long a request is being answered."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from starlette.types import ASGIApp, Receive, Scope, Send

First = Callable[[], AbstractContextManager[object]]


class FirstServed:
    """ASGI middleware: holds what `first` returns while it answers."""

    def __init__(self, app: ASGIApp, first: First) -> None:
        self._app, self._first = app, first

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._first():
            await self._app(scope, receive, send)
