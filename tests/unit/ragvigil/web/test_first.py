"""While a request is answered others give way, and what it reads is known to be a request's."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext

import pytest
from starlette.types import Message, Receive, Scope, Send

from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.scope import QueryScope, current_scope
from ragvigil.web.site.first import FirstServed


@pytest.mark.parametrize(
    ("method", "reads_as"), [("GET", Priority.PAGE), ("HEAD", Priority.PAGE), ("POST", None)]
)
def test_every_request_has_a_scope_and_reading_ones_that_of_a_page(
    method: str, reads_as: Priority | None
) -> None:
    scopes: list[QueryScope | None] = []

    async def app(_scope: Scope, _receive: Receive, _send: Send) -> None:
        scopes.append(current_scope())

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(_message: Message) -> None:
        pass

    asyncio.run(FirstServed(app, nullcontext)({"type": "http", "method": method}, receive, send))
    (scope,) = scopes
    assert scope is not None
    assert scope.reads_as is reads_as
    assert current_scope() is None
