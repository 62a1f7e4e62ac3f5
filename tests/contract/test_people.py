"""Every route, every role, every way to say who one is: who gets through, and who does not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, cast

import httpx2
import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from ragvigil.web.identity import Role, Way
from ragvigil.web.metrics import Refusal
from ragvigil.web.pages.addresses import every_route, permission_of
from ragvigil.web.permissions import ROLES, Permission
from ragvigil.web.sessions import FORM_SECONDS, IDLE_SECONDS, MOST_SECONDS, Sessions
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api, application
from tests.flow.test_api import Quiet

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store
    from ragvigil.web.api.golden import GoldenSource

TOKENS = {role: f"of-{role}-0123456789" for role in Role}
PROXY, ELSEWHERE = "10.0.0.7", "10.0.0.8"
SETTINGS = WebSettings.model_validate(
    {
        **{f"{role}_token": token for role, token in TOKENS.items()},
        "proxy_header": "X-Forwarded-Email",
        "proxy_addresses": (PROXY,),
        "proxy_people": {f"{role}@example.org": role for role in Role},
    }
)
COOKIE = "ragvigil_8088"
FORM, JSON = "application/x-www-form-urlencoded", "application/json"


@dataclass
class Site:
    """The application without a store: what gets through fails behind the gate, with 500."""

    now: float = 1_800_000_000.0
    sessions: Sessions = field(init=False)

    def __post_init__(self) -> None:
        self.sessions = Sessions(clock=lambda: self.now)
        keeping = cast("GoldenSource", object())  # else a form of a case is 404 before it is read
        self.app = api(
            cast("Store", None), Quiet(), SETTINGS, keeping=keeping, sessions=self.sessions
        )

    async def ask(
        self, method: str, path: str, headers: Mapping[str, Any], peer: str = PROXY, body: str = ""
    ) -> httpx2.Response:
        transport = httpx2.ASGITransport(self.app, False, client=(peer, 1))
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            kind = {"content-type": kind_of(path)} if method == "POST" else {}
            content = body or ("{}" if kind_of(path) == JSON else "")
            with capture_logs():  # rendering a traceback takes most of a second
                return await client.request(method, path, headers=kind | headers, content=content)

    def cookie(self, token: str, name: str, **more: str) -> dict[str, str]:
        session = self.sessions.begin(token, name)
        return {"cookie": f"{COOKIE}={self.sessions.cookie(session)}", **more}


def kind_of(path: str) -> str:
    return JSON if path.startswith("/api/") else FORM


def calls() -> list[tuple[str, str, Permission]]:
    """Method, path and permission of every route; a placeholder has some value."""
    found = []
    for route in every_route(application(None, None, WebSettings())):  # type: ignore[arg-type]
        permission = permission_of(route)
        assert permission is not None, f"{route.path} declares no permission"
        path = re.sub(r"\{verb\}", "resolve", route.path)
        path = re.sub(r"\{[^}]*\}", "abc", path)
        found += [(method, path, permission) for method in sorted(route.methods)]
    return found


CALLS = calls()
FORMS = [call for call in CALLS if call[0] == "POST" and kind_of(call[1]) == FORM]


@pytest.fixture(scope="module")
def site() -> Site:
    return Site()


def verdict(reply: httpx2.Response) -> str:
    """What the gate said: `unknown`, `refused` or `through`."""
    to_sign_in = reply.headers.get("location", "").startswith("/sign-in?")
    if reply.status_code == 401 or (reply.status_code == 303 and to_sign_in):
        return "unknown"
    return "refused" if reply.status_code == 403 else "through"


def ways(site: Site, role: Role) -> Iterator[tuple[Way | None, dict[str, str], str]]:
    """How somebody of a role says who they are: the way, its headers, and the owner of forms."""
    token, email = TOKENS[role], f"{role}@example.org"
    yield Way.TOKEN, {"authorization": f"Bearer {token}"}, f"token {role}"
    session = site.sessions.begin(token, str(role))
    yield (
        Way.SESSION,
        {"cookie": f"{COOKIE}={site.sessions.cookie(session)}"},
        session.session_id,
    )
    yield Way.PROXY, {"X-Forwarded-Email": email}, f"proxy {email}"
    yield None, {}, ""


def expected(way: Way | None, role: Role, path: str, method: str, permission: Permission) -> str:
    """What the gate must say to a request that has all that it needs."""
    is_api_act = method == "POST" and kind_of(path) == JSON
    if way is None and permission is not Permission.NONE:
        return "unknown"
    if way is None and method == "POST" and path != "/sign-in":
        return "unknown"
    if is_api_act and way in (Way.SESSION, Way.PROXY):
        return "refused"
    if permission is Permission.NONE or permission in ROLES[role]:
        return "through"
    return "refused"


@pytest.mark.parametrize(("method", "path", "permission"), CALLS, ids=str)
async def test_a_route_is_for_the_roles_that_may_whatever_way_they_come(
    site: Site, method: str, path: str, permission: Permission
) -> None:
    for role in Role:
        for way, headers, owner in ways(site, role):
            body = f"form_token={site.sessions.form_token(owner)}&token=wrong"
            is_form = method == "POST" and kind_of(path) == FORM
            reply = await site.ask(method, path, headers, body=body if is_form else "")
            if path == "/sign-in":
                assert reply.status_code in (200, 303, 401, 429), (role, way)
            else:
                said = expected(way, role, path, method, permission)
                assert verdict(reply) == said, (role, way, reply.status_code, reply.text)


@pytest.mark.parametrize(("method", "path", "permission"), FORMS, ids=str)
async def test_a_form_needs_a_token_of_its_own_page(
    site: Site, method: str, path: str, permission: Permission
) -> None:
    """Missing, forged, too old, of another session, of another person: each is refused."""
    del permission
    before = counted(Refusal.FORM)
    sent = 0
    for way, headers, owner in ways(site, Role.ADMIN):
        if way is None and path != "/sign-in":
            continue
        right = site.sessions.form_token(owner)
        other = site.sessions.begin(TOKENS[Role.ADMIN], "admin").session_id
        until, salt, mac = right.split(".")
        wrong = {
            "missing": "",
            "empty": "form_token=",
            "forged": f"form_token={until}.{salt}.{'0' * len(mac)}",
            "longer": f"form_token={int(until) + 9}.{salt}.{mac}",
            "other session": f"form_token={site.sessions.form_token(other)}",
            "other person": f"form_token={site.sessions.form_token('token reader')}",
            "nobody": f"form_token={site.sessions.form_token('' if owner else 'token admin')}",
            "garbage": "form_token=%ff.%00.\N{SNOWMAN}",
            "not a number": f"form_token=x.{salt}.{mac}",
        }
        for name, body in wrong.items():
            reply = await site.ask(method, path, headers, body=body)
            assert reply.status_code == 403, (way, name, reply.text)
            sent += 1
        site.now += FORM_SECONDS
        reply = await site.ask(method, path, dict(headers), body=f"form_token={right}")
        site.now -= FORM_SECONDS
        # A session that nobody used for so long is over, too.
        is_over = way is Way.SESSION and path != "/sign-in"
        assert verdict(reply) == ("unknown" if is_over else "refused")
        sent += not is_over
    assert counted(Refusal.FORM) - before >= sent


@pytest.mark.parametrize(("method", "path", "permission"), CALLS, ids=str)
async def test_a_token_in_an_address_is_refused_on_every_route(
    site: Site, method: str, path: str, permission: Permission
) -> None:
    del permission
    before = counted(Refusal.TOKEN_IN_URL)
    token = TOKENS[Role.READER]
    asked = [f"{path}?token=x", f"{path}?Access_Token=", f"{path}?q={token}", f"{path}?{token}"]
    asked += [f"{path}/{token}"] if path != "/" else []
    for target in asked:
        for headers in ({}, {"authorization": f"Bearer {token}"}):
            reply = await site.ask(method, target, headers)
            assert reply.status_code == 400, target
            assert "replace this token now" in reply.json()["error"]["message"]
    assert counted(Refusal.TOKEN_IN_URL) - before == 2 * len(asked)


@pytest.mark.parametrize(("method", "path", "permission"), CALLS, ids=str)
async def test_the_proxys_header_from_elsewhere_is_refused_on_every_route(
    site: Site, method: str, path: str, permission: Permission
) -> None:
    del permission
    header = {"X-Forwarded-Email": "admin@example.org"}
    before = counted(Refusal.PROXY_ADDRESS)
    for more in ({}, {"authorization": f"Bearer {TOKENS[Role.ADMIN]}"}):
        reply = await site.ask(method, path, header | more, peer=ELSEWHERE)
        assert reply.status_code == 403
    assert counted(Refusal.PROXY_ADDRESS) - before == 2


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("reader@example.org", 200),
        ("Reader@Example.org", 200),
        ("eve@example.org", 403),
        ("", 403),
        ("x" * 65, 403),
        ("reader\u202e@example.org", 403),
    ],
)
async def test_the_proxy_names_one_person_who_has_a_role(
    site: Site, name: str, status: int
) -> None:
    header = {"X-Forwarded-Email": name.encode()}
    assert (await site.ask("GET", "/api/v1/status", header)).status_code == status


@pytest.mark.parametrize("path", ["/api/v1/status", "/issues"])
async def test_a_session_ends(site: Site, path: str) -> None:
    """Nobody used it, a week has passed, its token is another person's, it is forged or garbled."""
    token = TOKENS[Role.ADMIN]
    session = site.sessions.begin(token, "admin")
    good = site.sessions.cookie(session)
    *parts, mac = good.split(".")
    foreign = Sessions().cookie(session)
    later = f"{parts[0]}.{parts[1]}.{parts[2]}.{int(parts[3]) + 60}.{mac}"
    wrong = [
        "", "x", "....", good[:-1], good + "0", good.upper(), foreign, later,
        site.sessions.cookie(site.sessions.begin(token, "ada")),
        site.sessions.cookie(site.sessions.begin("of-nobody-0123456789", "admin")),
    ]  # fmt: skip
    for cookie in wrong:
        reply = await site.ask("GET", path, {"cookie": f"{COOKIE}={cookie}"})
        assert verdict(reply) == "unknown", cookie
    own = {"cookie": f"{COOKIE}={good}"}
    assert verdict(await site.ask("GET", path, own)) == "through"
    for seconds in (IDLE_SECONDS, MOST_SECONDS):
        site.now += seconds
        assert verdict(await site.ask("GET", path, own)) == "unknown"
        site.now -= seconds


async def test_a_session_that_is_used_goes_on_for_a_week_and_no_longer() -> None:
    site = Site()
    headers = site.cookie(TOKENS[Role.ADMIN], "admin")
    begun = site.now
    while site.now - begun < MOST_SECONDS - IDLE_SECONDS / 2:
        site.now += IDLE_SECONDS / 2
        reply = await site.ask("GET", "/api/v1/status", headers)
        assert reply.status_code == 200, site.now - begun
        headers = {"cookie": reply.headers["set-cookie"].partition(";")[0]}
    site.now = begun + MOST_SECONDS
    assert (await site.ask("GET", "/api/v1/status", headers)).status_code == 401


@pytest.mark.parametrize(
    ("kind", "path", "status"),
    [
        (FORM, "/api/v1/deploys", 415),
        ("text/plain", "/api/v1/deploys", 415),
        ("multipart/form-data; boundary=x", "/api/v1/deploys", 415),
        (JSON, "/sign-out", 415),
        ("text/plain", "/sign-out", 415),
        ("", "/sign-out", 415),
    ],
)
async def test_pages_take_forms_and_the_api_takes_json(
    site: Site, kind: str, path: str, status: int
) -> None:
    headers = {"authorization": f"Bearer {TOKENS[Role.ADMIN]}", "content-type": kind}
    assert (await site.ask("POST", path, headers, body="{}")).status_code == status


@pytest.mark.parametrize(
    "said",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
    ],
    ids=str,
)
async def test_a_page_of_another_site_posts_nothing_even_with_a_right_form(
    site: Site, said: dict[str, str]
) -> None:
    session = site.sessions.begin(TOKENS[Role.ADMIN], "admin")
    headers = {"cookie": f"{COOKIE}={site.sessions.cookie(session)}"} | said
    body = f"form_token={site.sessions.form_token(session.session_id)}"
    for _, path, _ in FORMS:
        assert (await site.ask("POST", path, headers, body=body)).status_code == 403


def test_the_matrix_has_every_kind_of_route() -> None:
    kinds = {(method, kind_of(path)) for method, path, _ in CALLS}
    assert kinds == set(product(("GET", "POST"), (FORM, JSON)))
    assert ("POST", "/sign-in", Permission.NONE) in FORMS


def counted(reason: Refusal) -> float:
    name = "ragvigil_web_identity_refused_total"
    return REGISTRY.get_sample_value(name, {"reason": reason}) or 0.0
