"""Signing in and out in a browser: the cookie, the way back, wrong tokens."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import httpx2
import pytest
from prometheus_client import REGISTRY

from ragvigil.store.engine.store import Store
from ragvigil.web.pages.sign_in import local_path
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from ragvigil.web.slowdown import FREE_FAILURES
from tests.flow.test_api import Quiet

PEOPLE = (
    "triager tr1ager-0123456789 Ada Lovelace\nreader r3ader-0123456789 bob\ningest in-0123456789\n"
)
ADA = "tr1ager-0123456789"


def browser(store: Store, folder: Path, **settings: Any) -> httpx2.AsyncClient:
    file = folder / "people"
    if not file.exists():
        file.write_text(PEOPLE)
    web = WebSettings.model_validate({"tokens_file": file, **settings})
    transport = httpx2.ASGITransport(api(store, Quiet(), web), raise_app_exceptions=False)
    base = settings.get("external_url") or "http://127.0.0.1:8088"
    accept = {"accept": "text/html"}
    return httpx2.AsyncClient(transport=transport, base_url=base, headers=accept)


async def sign_in(
    client: httpx2.AsyncClient, token: str, wanted: str = "/runbook"
) -> httpx2.Response:
    page = await client.get("/sign-in", params={"next": wanted})
    assert page.status_code == 200
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text))
    return await client.post("/sign-in", data=fields | {"token": token})


def form_token(page: httpx2.Response) -> str:
    found = re.search(r'name="form_token" value="([^"]+)"', page.text)
    assert found
    return found[1]


async def test_a_page_asks_who_you_are_and_goes_on_where_you_wanted(
    store: Store, tmp_path: Path
) -> None:
    client = browser(store, tmp_path)
    asked = await client.get("/issues?state=new")
    assert asked.status_code == 303
    assert asked.headers["location"] == "/sign-in?next=%2Fissues%3Fstate%3Dnew"
    reply = await sign_in(client, ADA, "/issues?state=new")
    assert (reply.status_code, reply.headers["location"]) == (303, "/issues?state=new")
    cookie = reply.headers["set-cookie"]
    assert cookie.startswith("ragvigil_8088=")
    assert all(part in cookie for part in ("HttpOnly", "SameSite=Strict", "Path=/"))
    assert "Secure" not in cookie
    who = (await client.get("/api/v1/person")).json()
    assert (who["name"], who["role"], who["way"]) == ("Ada Lovelace", "triager", "session")


async def test_what_was_done_is_in_the_log_of_acts(store: Store, tmp_path: Path) -> None:
    client = browser(store, tmp_path)
    await sign_in(client, ADA)
    cookie = client.cookies["ragvigil_8088"]
    assert (await client.get("/sign-in?next=/golden")).headers["location"] == "/golden"
    page = await client.get("/golden")
    gone = await client.post("/sign-out", data={"form_token": form_token(page)})
    assert gone.headers["location"] == "/sign-in"
    assert "Max-Age=0" in gone.headers["set-cookie"]
    client.cookies.clear()
    copy = {"cookie": f"ragvigil_8088={cookie}"}
    assert (await client.get("/api/v1/person", headers=copy)).status_code == 401
    bearer = {"authorization": f"Bearer {ADA}"}
    acts = (await client.get("/api/v1/acts", headers=bearer)).json()["acts"]
    assert [(act["person"], act["verb"], act["place"]) for act in acts] == [
        ("Ada Lovelace", "sign out", "page"),
        ("Ada Lovelace", "sign in", "page"),
    ]


async def test_who_follows_a_link_from_a_chat_is_asked_again_by_a_page_of_ours(
    store: Store, tmp_path: Path
) -> None:
    """A browser sends no strict cookie with a link of another site, but with what that opens."""
    client = browser(store, tmp_path)
    link = {"sec-fetch-site": "cross-site"}
    page = await client.get("/sign-in?next=/issues/i1%3Fa%3D%22", headers=link)
    again = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', page.text)
    assert again
    assert unescape(again[1]) == "/sign-in?next=%2Fissues%2Fi1%3Fa%3D%22"
    own = await client.get(unescape(again[1]), headers={"sec-fetch-site": "same-origin"})
    assert "refresh" not in own.text


async def test_with_tls_the_cookie_is_for_tls_and_this_host_alone(
    store: Store, tmp_path: Path
) -> None:
    client = browser(store, tmp_path, external_url="https://desk.example/vigil")
    client.base_url = "https://desk.example"
    reply = await sign_in(client, ADA, "/issues")
    assert reply.headers["location"] == "/vigil/issues", "the proxy takes the prefix off"
    cookie = reply.headers["set-cookie"]
    assert cookie.startswith("__Host-ragvigil_8088=")
    assert cookie.endswith("; Secure")


async def test_a_session_ends_with_its_token(store: Store, tmp_path: Path) -> None:
    client = browser(store, tmp_path)
    await sign_in(client, ADA)
    (tmp_path / "people").write_text(PEOPLE.replace("Ada Lovelace", "Eve"))
    later = browser(store, tmp_path)
    later.cookies = client.cookies
    assert (await later.get("/api/v1/person")).status_code == 401


async def test_wrong_tokens_are_counted_and_slowed(store: Store, tmp_path: Path) -> None:
    client = browser(store, tmp_path)
    before = counted("sign_in")
    for _ in range(FREE_FAILURES):
        reply = await sign_in(client, "wrong")
        assert reply.status_code == 401
        assert "Nobody has this token." in reply.text
        assert "set-cookie" not in reply.headers
    reply = await sign_in(client, ADA)
    assert (reply.status_code, reply.headers["retry-after"]) == (429, "2")
    assert counted("sign_in") - before == FREE_FAILURES
    bearer = {"authorization": f"Bearer {ADA}"}
    assert (await client.get("/api/v1/person", headers=bearer)).status_code == 200


async def test_who_only_sends_signs_in_nowhere(store: Store, tmp_path: Path) -> None:
    reply = await sign_in(browser(store, tmp_path), "in-0123456789")
    assert reply.status_code == 403
    assert "reads no page" in reply.text


async def test_nobody_needs_to_sign_in_where_no_token_is_asked_for(store: Store) -> None:
    transport = httpx2.ASGITransport(api(store, Quiet(), WebSettings()))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        reply = await client.get("/sign-in?next=/issues")
    assert (reply.status_code, reply.headers["location"]) == (303, "/issues")


@pytest.mark.parametrize(
    "wanted",
    [
        "https://evil.example", "//evil.example", "/\\evil.example", "\\/evil.example", "/\t/evil",
        "/\n/evil", "javascript:alert(1)", "evil", "", " /issues", "/\x00",
        "/\N{FULLWIDTH SOLIDUS}evil",
    ],
)  # fmt: skip
def test_the_way_back_stays_here(wanted: str) -> None:
    assert local_path(wanted) == "/"


def counted(reason: str) -> float:
    name = "ragvigil_web_identity_refused_total"
    return REGISTRY.get_sample_value(name, {"reason": reason}) or 0.0
