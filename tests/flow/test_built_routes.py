"""No request waits for what FastAPI builds of routes."""

from __future__ import annotations

import pytest
from fastapi import routing

from ragvigil.store.engine.store import Store
from tests.flow.test_api import client


async def test_routes_are_built_before_the_first_request(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    web = client(store, is_prebuilt=True)
    built: list[str] = []
    of_path = routing.get_dependant

    def counted(*, path: str, **rest: object) -> object:
        built.append(path)
        return of_path(path=path, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(routing, "get_dependant", counted)
    async with web:
        answers = [await web.get(path) for path in ("/health", "/api/v1/status", "/none")]
    assert [answer.status_code for answer in answers] == [200, 200, 404]
    assert built == []
