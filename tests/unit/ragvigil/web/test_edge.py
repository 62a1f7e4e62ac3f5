"""An edge answers for itself, and says where the analyst is for all else."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from ragvigil.web.site.edge import EdgeWeb


@pytest.fixture
def client() -> TestClient:
    app = Starlette(routes=[Route("/{path:path}", lambda _: PlainTextResponse("own"))])
    return TestClient(EdgeWeb(app, lambda: "http://analyst:8088"))


@pytest.mark.parametrize(
    "path", ["/api/v1/status", "/api/v1/ledger", "/api/v1/feedback", "/static/a.css", "/sign-in"]
)
def test_its_own_is_passed_on(client: TestClient, path: str) -> None:
    assert client.get(path).text == "own"


@pytest.mark.parametrize("path", ["/issues", "/api/v1/issues", "/api/v1/statusx"])
def test_the_rest_is_the_analysts(client: TestClient, path: str) -> None:
    reply = client.get(path)
    assert reply.status_code == 404
    assert "the analyst is at http://analyst:8088" in reply.text


def test_its_front_page_says_what_it_is(client: TestClient) -> None:
    reply = client.get("/")
    assert (reply.status_code, reply.headers["content-type"]) == (200, "text/plain; charset=utf-8")


def test_without_an_analyst_it_says_so() -> None:
    app = EdgeWeb(Starlette(), lambda: "")
    assert "none has the lease" in TestClient(app).get("/").text


def test_a_scorer_says_that_it_is_one() -> None:
    app = EdgeWeb(Starlette(), lambda: "", "a scorer: it runs local models on what edges stored")
    assert TestClient(app).get("/").text.startswith("this daemon is a scorer: it runs local models")
