"""What every request passes: Host, cross-site, body, headers, token, role."""

from __future__ import annotations

from collections.abc import Mapping

import httpx2
import pytest

from ragvigil.web.access import Access
from ragvigil.web.identity import LOCAL, Role
from ragvigil.web.pages.addresses import every_route, permission_of
from ragvigil.web.permissions import ROLES, Permission
from ragvigil.web.sessions import Sessions
from ragvigil.web.settings import WebSettings
from ragvigil.web.site import application as web
from ragvigil.web.views.doctor import DoctorForm

LEDGER = {
    "spans": {
        "acknowledged": 3,
        "stored": 2,
        "duplicate": 0,
        "quarantined": 0,
        "lost": 0,
        "not_kept": 0,
        "in_spool": 1,
    },
    "records": {
        "scored": 1,
        "not_rag": 0,
        "shed": 0,
        "late": 0,
        "unparseable": 0,
        "offline": 0,
    },
}


class Quiet:
    """A daemon that has little to say."""

    def status(self) -> Mapping[str, object]:
        return {"receivers": {"spans": 3}}

    def judge(self) -> Mapping[str, object]:
        return {}

    def behind(self) -> str:
        return ""

    def ledger(self) -> Mapping[str, Mapping[str, int]]:
        return LEDGER

    def doctor(self) -> DoctorForm:
        return DoctorForm(services=[], sources=[])


def client(base: str = "http://127.0.0.1:8088", **settings: object) -> httpx2.AsyncClient:
    app = web.api(None, Quiet(), WebSettings.model_validate(settings))  # type: ignore[arg-type]
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url=base)


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


async def test_the_ledger_is_the_daemons() -> None:
    reply = await client().get("/api/v1/ledger")
    assert reply.status_code == 200
    assert reply.json() == LEDGER


async def test_the_status_and_the_doctor_are_the_daemons() -> None:
    asking = client()
    assert (await asking.get("/api/v1/status")).json() == {"receivers": {"spans": 3}}
    found = (await asking.get("/api/v1/doctor")).json()
    assert (found["services"], found["sources"]) == ([], [])


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", ""])
async def test_another_host_name_is_refused(host: str) -> None:
    reply = await client().get("/api/v1/ledger", headers={"host": host})
    assert reply.status_code == 400
    assert reply.json()["error"]["reason"] == "bad_request"


@pytest.mark.parametrize("host", ["localhost:8088", "127.0.0.1", "[::1]:8088", "desk.example"])
async def test_the_own_host_names_are_served(host: str) -> None:
    asking = client(external_url="https://desk.example/ragvigil")
    assert (await asking.get("/api/v1/ledger", headers={"host": host})).status_code == 200


@pytest.mark.parametrize(
    "path", ["/docs", "/api/v1/ledger", "/api/v1/nowhere", "/static/ragvigil.css"]
)
async def test_every_reply_has_the_security_headers(path: str) -> None:
    reply = await client().get(path)
    policy = reply.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in reply.headers


async def test_the_home_page_has_no_inline_code_and_names_every_route() -> None:
    reply = await client().get("/addresses")
    assert reply.headers["content-type"].startswith("text/html")
    assert "<script" not in reply.text
    assert "style=" not in reply.text
    assert "/api/v1/deltas" in reply.text
    assert (await client().get("/static/ragvigil.css")).status_code == 200


@pytest.mark.parametrize("path", ["/redoc", "/openapi.json", "/api/v1/nowhere"])
async def test_an_unknown_path_is_an_error_of_the_one_form(path: str) -> None:
    reply = await client().get(path)
    assert reply.status_code == 404
    assert set(reply.json()["error"]) == {"status", "reason", "message", "details"}


@pytest.mark.parametrize("method", ["DELETE", "PUT", "PATCH", "POST", "OPTIONS"])
@pytest.mark.parametrize("path", ["/api/v1/records", "/docs", f"/api/v1/traces/{'a' * 32}"])
async def test_a_method_that_a_path_lacks_is_405_with_those_it_has(method: str, path: str) -> None:
    reply = await client().request(method, path)
    assert (reply.status_code, reply.headers["allow"]) == (405, "GET")
    assert reply.json()["error"]["reason"] == "method_not_allowed"


async def test_all_methods_of_a_path_are_named() -> None:
    reply = await client().delete("/api/v1/labels")
    assert (reply.status_code, reply.headers["allow"]) == (405, "GET, POST")
    assert reply.json()["error"]["message"] == "this address has no DELETE, only GET, POST"
    assert (await client().get("/api/v1/alerts/test")).headers["allow"] == "POST"
    assert (await client().delete("/api/v1/nowhere")).status_code in (404, 415)


async def test_who_asks_too_often_is_told_when_to_come_back() -> None:
    async with client(reader_token="reader-0123", max_requests_per_second=0.1) as asked:
        headers = bearer("reader-0123")
        assert (await asked.get("/api/v1/ledger", headers=headers)).status_code == 200
        second = await asked.get("/api/v1/ledger", headers=headers)
        assert second.status_code == 429
        assert 1 <= int(second.headers["retry-after"]) <= 10
        # Nobody known: by address, each for themselves.
        assert (await asked.get("/api/v1/ledger")).status_code == 401


def routes() -> list[str]:
    """The paths of the API that are read, with something for each of their parameters."""
    app = web.application(None, Quiet(), WebSettings())  # type: ignore[arg-type]
    read = [route.path for route in every_route(app) if "GET" in route.methods]
    paths = [path for path in read if path.startswith("/api/") and not path.endswith(".json")]
    return [path.replace("{trace_id}", "a" * 32).replace("{kind}", "traces") for path in paths]


@pytest.mark.parametrize("path", routes())
async def test_an_unknown_parameter_is_named_on_every_route(path: str) -> None:
    """A filter with a typing mistake would filter nothing, and look like an answer."""
    reply = await client().get(path, params={"rout": "/ask"})
    error = reply.json()["error"]
    assert (reply.status_code, error["details"][0]["where"]) == (422, "query.rout")
    assert "there is no such parameter; there " in error["message"]


async def test_a_wrong_value_is_named() -> None:
    reply = await client().get("/api/v1/records", params={"below": "much"})
    error = reply.json()["error"]
    assert reply.status_code == 422
    assert error["details"][0]["where"] == "query.below"
    assert "query.below" in error["message"]


async def test_a_form_of_another_site_is_refused() -> None:
    plain = {"content-type": "text/plain"}
    reply = await client().post("/api/v1/deploys", content='{"service": "x"}', headers=plain)
    assert reply.status_code == 415
    other = {"content-type": "application/json", "sec-fetch-site": "cross-site"}
    reply = await client().post("/api/v1/deploys", content='{"service": "x"}', headers=other)
    assert reply.status_code == 403


@pytest.mark.parametrize("is_chunked", [False, True])
async def test_a_long_body_is_refused(is_chunked: bool) -> None:
    body = b'{"service": "' + b"x" * 2000 + b'"}'

    async def parts() -> object:
        yield body[:100]
        yield body[100:]

    reply = await client(max_body_bytes=1024).post(
        "/api/v1/deploys",
        content=parts() if is_chunked else body,  # type: ignore[arg-type]
        headers={"content-type": "application/json"},
    )
    assert reply.status_code == 413


async def test_with_tokens_a_request_without_one_is_refused() -> None:
    asking = client(reader_token="r3ader")
    assert (await asking.get("/api/v1/ledger")).status_code == 401
    assert (await asking.get("/api/v1/ledger", headers=bearer("wrong"))).status_code == 401
    assert (await asking.get("/api/v1/ledger", headers=bearer("r3ader"))).status_code == 200
    basic = {"authorization": "Basic r3ader"}
    refused = await asking.get("/api/v1/ledger", headers=basic)
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"


async def test_a_role_may_do_what_its_row_of_the_table_says() -> None:
    asking = client(ingest_token="1ngest", reader_token="r3ader")
    assert (await asking.get("/api/v1/ledger", headers=bearer("1ngest"))).status_code == 403
    post = await asking.post("/api/v1/deploys", json={"service": "x"}, headers=bearer("r3ader"))
    assert post.status_code == 403


async def test_a_token_is_checked_before_the_body_is_read() -> None:
    asking = client(reader_token="r3ader")
    json = {"content-type": "application/json"}
    reply = await asking.post("/api/v1/deploys", content="{", headers=json)
    assert reply.status_code == 401


def test_every_route_declares_its_permission() -> None:
    app = web.application(None, Quiet(), WebSettings())  # type: ignore[arg-type]
    routes = every_route(app)
    assert len(routes) >= 10
    for route in routes:
        assert permission_of(route) is not None, f"{route.path} declares no permission"


def test_roles_grow_and_ingest_reads_nothing() -> None:
    assert ROLES[Role.READER] < ROLES[Role.TRIAGER] < ROLES[Role.APPROVER] < ROLES[Role.ADMIN]
    assert Permission.READ not in ROLES[Role.INGEST]


async def test_without_tokens_everybody_on_this_machine_is_local_the_admin() -> None:
    assert access().identify(request()).person == LOCAL


def test_people_without_a_role_are_nobody() -> None:
    """A proxy alone, and no token: that is not the same as nobody being asked."""
    known = access(proxy_header="X-User", proxy_addresses=("10.0.0.7",))
    assert known.identify(request()) is None
    assert known.identify(request("Bearer ")) is None


def access(**settings: object) -> Access:
    return Access(WebSettings.model_validate(settings), Sessions())


def request(authorization: str = "") -> dict[str, object]:
    headers = [(b"authorization", authorization.encode())] if authorization else []
    return {"type": "http", "path": "/", "query_string": b"", "headers": headers}


async def test_a_browser_reads_why_it_is_refused() -> None:
    html = {"accept": "text/html,*/*"}
    asked = client(max_body_bytes=1024)
    foreign = await asked.get("/", headers={**html, "host": "evil.example"})
    form = {**html, "content-type": "application/x-www-form-urlencoded"}
    long = await asked.post("/golden", content=b"a" * 2000, headers=form)
    deleted = await asked.delete("/golden", headers=html)
    for reply, status, said in (
        (foreign, 400, "this Host name is not served"),
        (long, 413, "see [web] max_body_bytes"),
        (deleted, 405, "this address has no DELETE"),
    ):
        assert reply.status_code == status
        assert reply.headers["content-type"].startswith("text/html")
        assert said in reply.text
    assert deleted.headers["allow"] == "GET, POST"
    of_program = await asked.get("/api/v1/ledger", headers={**html, "host": "evil.example"})
    assert of_program.json()["error"]["status"] == 400
