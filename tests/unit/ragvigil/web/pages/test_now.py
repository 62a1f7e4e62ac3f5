"""The page Now answers whether something is wrong, and says what the API says."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from html import unescape
from pathlib import Path

import httpx2
import pytest

from ragvigil.model.figures import in_points, points, score
from ragvigil.store.engine.store import Store
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from tests.flow.test_api import NOW, Quiet
from tests.triage_store import Desk, desk
from tests.triage_watch import FAULTY, MISLED, ROUTES, State

ADMIN, READER = "admin-" + "0" * 26, "reader-" + "0" * 25


@asynccontextmanager
async def browsing(made: Desk, **headers: str) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(made.app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://127.0.0.1:8088", headers=headers
    ) as client:
        yield client


def words_of(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def heading(html: str) -> str:
    found = re.search(r"<h1>(.*?)</h1>", html, re.DOTALL)
    assert found is not None
    return words_of(found[1])


def form_token(html: str) -> str:
    found = re.search(r'name="form_token" value="([^"]+)"', html)
    assert found is not None
    return found[1]


async def test_in_alarm_it_names_layer_route_change_and_the_next_act(store: Store) -> None:
    made = desk(store, State.ALARM)
    async with browsing(made) as client:
        reply = await client.get("/")
        said = (await client.get("/api/v1/now")).json()
    assert reply.status_code == 200
    page = words_of(reply.text)
    first = said["incidents"][0]
    assert heading(reply.text) == said["sentence"] == first["heading"]
    assert FAULTY in heading(reply.text)
    assert first["incident"]["cause"] == "generation"
    assert "Layer generation the chunks are as good as before" in page
    assert "change A Prompt v3 → v5" in page
    assert "Do next Put prompt v3 back on /refunds/ask" in page
    assert "Issue Quotes a rule that no article holds" in page
    assert f'/incidents/{made.incidents[0].incident_id}/acknowledge"' in reply.text


async def test_its_numbers_are_those_of_the_deltas_and_of_the_incident(store: Store) -> None:
    made = desk(store, State.ALARM)
    async with browsing(made) as client:
        page = words_of((await client.get("/")).text)
        deltas = (await client.get("/api/v1/deltas", params={"window": "6h"})).json()["deltas"]
        incidents = (await client.get("/api/v1/incidents")).json()["incidents"]
    fell = [row for row in deltas if row["route"] == FAULTY and row["moved"]]
    assert {row["rubric"] for row in fell} == {"groundedness", "citation_validity"}
    for row in fell:
        assert f"{points(row['delta'])} points" in page
        assert f"{row['n']} answers, sees {in_points(row['detection_limit'])}" in page
    # The headline is what harms most answers: the rate over its ceiling.
    broken = next(each for each in incidents[0]["findings"] if each["kind"] == "broken")
    assert f"{broken['n']} of {broken['n']} answers" in page
    cited = next(row for row in fell if row["rubric"] == "citation_validity")
    assert f"{in_points(cited['delta'])} of citation validity, to {score(cited['mean'])}" in page


async def test_every_route_stands_in_the_table_and_says_what_is_missing(store: Store) -> None:
    made = desk(store, State.ALARM)
    async with browsing(made) as client:
        reply = await client.get("/")
    page = words_of(reply.text)
    assert "One route is worse, four hold, one check cannot tell yet" in page
    assert all(route in page for route in ROUTES)
    assert "not enough yet" in page
    assert "36 of about 120 answers" in page
    assert "corpus does not show in traffic alone" in page


async def test_an_expected_change_asks_for_a_word_and_for_nothing_else(store: Store) -> None:
    made = desk(store, State.EXPECTED)
    async with browsing(made) as client:
        html = (await client.get("/")).text
    page = words_of(html)
    assert heading(html) == "Answers on /chat are 40 % longer"
    assert "Nothing to mend: if release 1.5.0 was meant to do this, say “This was expected”" in page
    assert "no check got worse with it" in page
    main = re.search(r'<form[^>]+class="main".*?</form>', html, re.DOTALL)
    assert main is not None
    assert "/expected" in main[0]


async def test_a_retrieval_incident_names_its_layer_route_change_and_act(store: Store) -> None:
    made = desk(store, State.MISLED)
    async with browsing(made) as client:
        html = (await client.get("/")).text
        name = made.incidents[0].incident_id
        incident = words_of((await client.get(f"/incidents/{name}")).text)
        route = words_of((await client.get("/routes", params={"route": MISLED})).text)
    page = words_of(html)
    assert heading(html) == f"Chunks on {MISLED} fit the questions less"
    assert "Layer retrieval the answers keep to their chunks" in page
    assert "Embedding model text-embedding-3-large → text-embedding-3-small" in page
    act = f"Do next Put embedding model text-embedding-3-large back on {MISLED}"
    assert act in page
    assert act in incident
    assert "The chunks got worse, the answers did not" in incident
    assert f"Open the incident: Chunks on {MISLED} fit the questions less" in route


async def test_the_incident_says_which_lasting_drop_would_show(store: Store) -> None:
    made = desk(store, State.ALARM)
    async with browsing(made) as client:
        path = f"/incidents/{made.incidents[0].incident_id}"
        incident = words_of((await client.get(path)).text)
        route = words_of((await client.get("/routes", params={"route": FAULTY})).text)
    assert "a lasting drop of 4 points would show" in incident
    assert "a lasting drop of 4 points would show" in route


async def test_quiet_says_what_would_be_seen_and_how_soon(store: Store) -> None:
    made = desk(store, State.QUIET)
    async with browsing(made) as client:
        html = (await client.get("/")).text
    page = words_of(html)
    assert heading(html) == "Nothing is wrong"
    assert "All 5 routes hold on every layer that can be measured." in page
    assert "A drop of 10 points in citation validity would show within 15 min." in page
    assert "1 of 15 layers has not enough answers yet." in page
    assert "A lasting drop of 4 points in groundedness would show." in page
    assert page.count("A lasting drop of 4 points would show") == len(ROUTES) - 1
    assert "Release 1.4.0" in page
    assert "acknowledge" not in html


async def test_before_the_first_answer_it_teaches_where_to_send(store: Store) -> None:
    app = api(
        store,
        Quiet(),
        WebSettings(allowed_hosts=("testserver",)),
        clock=lambda: datetime.fromtimestamp(NOW, UTC),
    )
    async with browsing(Desk(app=app, incidents=())) as client:
        reply = await client.get("/")
    assert reply.status_code == 200
    assert "No answer has arrived yet" in heading(reply.text)


async def test_a_scope_without_the_route_shows_no_incident_of_it(store: Store) -> None:
    made = desk(store, State.ALARM)
    async with browsing(made) as client:
        html = (await client.get("/", params={"route": "/chat"})).text
    assert heading(html) == "Nothing is wrong"
    assert "/shipping/ask" not in words_of(html.partition('id="routes"')[2])


async def test_who_may_not_act_is_offered_no_act(store: Store, tmp_path: Path) -> None:
    people = tmp_path / "people"
    people.write_text(f"admin {ADMIN} ada\nreader {READER} rita\n")
    made = desk(store, State.ALARM, tokens_file=people)
    async with browsing(made, authorization=f"Bearer {READER}") as client:
        html = (await client.get("/")).text
    assert "/acknowledge" not in html
    assert "Open the incident" in html
    async with browsing(made, authorization=f"Bearer {ADMIN}") as client:
        assert "/acknowledge" in (await client.get("/")).text


async def test_an_act_comes_back_to_the_page_and_is_said(store: Store) -> None:
    made = desk(store, State.ALARM)
    name = made.incidents[0].incident_id
    async with browsing(made) as client:
        token = form_token((await client.get("/")).text)
        done = await client.post(
            f"/incidents/{name}/acknowledge", data={"form_token": token, "back": "now"}
        )
        assert (done.status_code, done.headers["location"]) == (303, "/?done=acknowledge")
        html = (await client.get(done.headers["location"])).text
        assert "You have it now" in html
        assert "page, acknowledged" in words_of(html)
        assert "local has it" in words_of(html)
        forged = await client.post(f"/incidents/{name}/resolve", data={"form_token": "x"})
        assert forged.status_code == 403


@pytest.mark.parametrize("state", [State.ALARM, State.EXPECTED])
async def test_what_is_called_expected_leaves_the_page(store: Store, state: State) -> None:
    made = desk(store, state)
    name = made.incidents[0].incident_id
    async with browsing(made) as client:
        token = form_token((await client.get("/")).text)
        fields = {"form_token": token, "back": "now"}
        await client.post(f"/incidents/{name}/expected", data=fields)
        html = (await client.get("/")).text
    assert name not in html.partition("<h1>")[2].partition("</section>")[0]
