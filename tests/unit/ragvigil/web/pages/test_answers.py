"""The page of answers over a real store: what it says, where its links lead, what the API says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from ragvigil.app.sources.meaning import Meaning
from ragvigil.model.figures import counted
from ragvigil.model.record import Dimensions
from ragvigil.store.engine.store import Store
from ragvigil.store.records import record_counts
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from ragvigil.web.views.answer_list import READY
from tests.flow.test_api import NOW, Quiet, client, keep, outcome
from tests.served_api import Commands, commands
from tests.unit.ragvigil.store.records.test_record_filter import answer, grounded, rate
from tests.unit.ragvigil.web.api.test_search import QUESTIONS, ask, asking, embed
from tests.word_vectors import WordVectors

HOSTILE = '"><script>alert(1)</script>'


def heading(html: str) -> str:
    found = re.search(r"<h1>(.*?)</h1>", html, re.DOTALL)
    assert found is not None, html
    return unescape(found[1]).strip()


def shown(html: str) -> list[int]:
    """The answers of the table, in order."""
    return [int(found, 16) for found in re.findall(r'href="/answers/([0-9a-f]{16})', html)]


def links(html: str, words: str) -> list[dict[str, list[str]]]:
    """The parameters of the links with this text."""
    found = re.findall(r'<a [^>]*?href="([^"]*)"[^>]*>' + re.escape(words) + r"[<]", html)
    return [parse_qs(urlsplit(unescape(address)).query) for address in found]


async def page(store: Store, **asked: object) -> str:
    reply = await client(store).get("/answers", params=asked)  # type: ignore[arg-type]
    assert reply.status_code == 200, reply.text
    return reply.text


def seed(store: Store) -> None:
    small = Dimensions(llm_model="small", prompt_version="v3")
    keep(
        store,
        [
            outcome(1, NOW - 10, value=0.5),
            outcome(2, NOW - 20, route="/billing", value=0.0),
            answer(3, dimensions=small),
            answer(4, scores=(grounded(0.0, "unsupported"),)),
        ],
    )
    rate(store, 0.0, trace_id=f"{3:032x}")


@pytest.mark.parametrize(
    ("asked", "sentence", "expected"),
    [
        ({}, "4 answers came in, last 24 h", [3, 4, 1, 2]),
        ({"failed": "true", "rubric": "citation_validity"},
         "2 answers fail citation validity, last 24 h", [2, 1]),
        ({"failed": "1", "rubric": "citation_validity"},
         "2 answers fail citation validity, last 24 h", [2, 1]),
        ({"failed": "true", "rubric": "citation_validity", "route": "/refunds"},
         "1 answer on /refunds fails citation validity, last 24 h", [1]),
        ({"rubric": "citation_validity", "below": "0.4"},
         "1 answer scores under 0.4 on citation validity, last 24 h", [2]),
        ({"said": "down", "model": "small", "since": "7d"},
         "1 answer by small got a thumbs-down, last 7 d", [3]),
        ({"label": "unsupported", "kind": "judge"},
         "No answer is labelled unsupported and is scored by a judge, last 24 h", []),
        ({"label": "unsupported"}, "1 answer is labelled unsupported, last 24 h", [4]),
        ({"layer": "cross_cutting", "failed": "true"},
         "2 answers fail a check in the cross-cutting layer, last 24 h", [1, 2]),
        ({"text": "refunds", "prompt_version": "v3"},
         "1 answer with prompt v3 has “refunds”, last 24 h", [3]),
        ({"issue": "i9"}, "No answer is in the issue i9, last 24 h", []),
        ({"text": HOSTILE}, f"No answer has “{HOSTILE}”, last 24 h", []),
    ],
)  # fmt: skip
async def test_the_heading_says_which_answers(
    store: Store, asked: dict[str, str], sentence: str, expected: list[int]
) -> None:
    seed(store)
    if asked.get("kind") == "judge":
        keep(store, [answer(4, scores=(grounded(0.0, "unsupported", kind="model"),))])  # type: ignore[arg-type]
    html = await page(store, **asked)
    assert (heading(html), shown(html)) == (sentence, expected)
    assert "<script>alert" not in html
    counts = (await client(store).get("/api/v1/record-counts", params=asked)).json()
    assert counts["answers"] == len(expected)


async def test_what_is_chosen_stands_in_every_link(store: Store) -> None:
    seed(store)
    html = await page(store, failed="true", rubric="citation_validity", route="/refunds")
    (taken,) = links(html, "fails citation validity")
    assert taken == {"route": ["/refunds"]}
    assert links(html, "thumbs down") == [
        {
            "route": ["/refunds"],
            "rubric": ["citation_validity"],
            "failed": ["true"],
            "said": ["down"],
        }
    ]
    (week,) = links(html, "last 7 d")
    assert week["rubric"] == ["citation_validity"]
    assert links(html, "Refused") == [
        {"route": ["/refunds"], "rubric": ["refusal"], "label": ["refused"]}
    ]


async def test_each_ready_made_view_is_an_address_that_the_api_knows(store: Store) -> None:
    seed(store)
    html = await page(store)
    views = [links(html, name)[0] for name in READY]
    for view in views:
        reply = await client(store).get("/api/v1/records", params=view)
        assert reply.status_code == 200, reply.text


async def test_every_facet_leads_to_as_many_answers_as_it_says(store: Store) -> None:
    seed(store)
    html = await page(store)
    found = re.findall(
        r'<li><a href="([^"]*)"[^>]*>[^<]*</a><span class="number">(\d+)</span></li>', html
    )
    assert len(found) > 6
    for address, number in found:
        told = (await client(store).get(unescape(address))).text
        assert len(shown(told)) == int(number), address


async def test_pages_follow_one_another(store: Store) -> None:
    keep(store, [outcome(number, NOW - 60) for number in range(1, 121)])
    asking_, address, seen = client(store), "/answers", list[int]()
    while address:
        html = (await asking_.get(address)).text
        assert heading(html) == "120 answers came in, last 24 h"
        seen += shown(html)
        more = re.search(r'<a href="([^"]*)" rel="next"', html)
        address = unescape(more[1]) if more else ""
    assert seen == list(range(1, 121))


async def test_what_was_not_looked_at_is_said(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(store, [outcome(number, NOW - 60 * number) for number in range(1, 9)])
    monkeypatch.setattr(record_counts, "MOST_SEARCHED", 3)
    html = await page(store, text="refunds")
    assert heading(html) == "At least 3 answers have “refunds”, last 24 h"
    assert links(html, "Look further back")[0]["text"] == ["refunds"]
    older = links(html, "Look further back")[0] | {"since": ["7d"]}
    assert shown((await client(store).get("/answers", params=older)).text) == [4, 5, 6]
    monkeypatch.setattr(record_counts, "MOST_COUNTED", 5)
    assert heading(await page(store)) == "More than 5 answers came in, last 24 h"


async def test_by_meaning_it_says_how_many_can_be_found(store: Store) -> None:
    model = WordVectors()
    ask(store)
    embed(store, model)
    reply = await asking(store, model).get(
        "/answers", params={"text": "get my money back", "by": "meaning"}
    )
    assert heading(reply.text) == (
        "1 answer was asked about something like “get my money back”, last 24 h"
    )
    assert shown(reply.text) == [1]
    assert "3 of 4 questions in this time can be found so" in reply.text
    without = await asking(store).get("/answers", params={"text": "password", "by": "meaning"})
    assert "Looked for by words: this daemon has no local models." in without.text
    assert shown(without.text) == [3]


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        (f"{1:032x}", f"/traces/{1:032x}"),
        (f"{1:016x}", f"/answers/{1:016x}"),
        ("my refund", "/answers?text=my+refund"),
        ("a&b=c#d", "/answers?text=a%26b%3Dc%23d"),
        ("//evil.example", "/answers?text=%2F%2Fevil.example"),
        ("", "/answers"),
    ],
)
async def test_the_search_box_leads_to_a_page(store: Store, typed: str, address: str) -> None:
    ask(store)
    reply = await client(store).get("/search", params={"q": typed})
    assert (reply.status_code, reply.headers["location"]) == (303, address)


async def test_the_search_box_keeps_the_scope_and_refuses_a_book(store: Store) -> None:
    reply = await client(store).get("/search", params={"q": "a", "since": "7d", "route": "/x"})
    assert reply.headers["location"] == "/answers?route=%2Fx&since=7d&text=a"
    long = await client(store).get("/search", params={"q": "x" * 10_240})
    assert long.status_code == 422


@pytest.fixture
def daemon(store: Store, tmp_path: Path) -> Iterator[Commands]:
    model = WordVectors()
    ask(store)
    embed(store, model)
    web = api(store, Quiet(), WebSettings(), embedding=Meaning(model))
    with commands(web, tmp_path) as made:
        yield made


def test_page_api_and_command_say_the_same(daemon: Commands) -> None:
    def get(path: str, **asked: str) -> httpx2.Response:
        base = f"http://127.0.0.1:{daemon.port}"
        return httpx2.get(
            base + path, params={"since": "7d", **asked}, headers={"accept": "text/html"}
        )

    for by, option in (("words", []), ("meaning", ["--meaning"])):
        found = get("/api/v1/search", q="my money back", by=by).json()
        said = ("search", "my", "money", "back", "--since", "7d", "--json", *option)
        told = json.loads(daemon.say(*said))
        assert (told["records"], told["vectors"]) == (found["records"], found["vectors"])
        numbers = [int(record["record_id"], 16) for record in found["records"]]
        html = get("/answers", text="my money back", by=by).text
        assert shown(html) == numbers == [1]
        assert counted(len(numbers), "answer") in heading(html)
    lines = daemon.say("search", "money", "--since", "7d")
    assert QUESTIONS[1] in lines
    assert "ragvigil trace" in daemon.say("search", f"{1:032x}")
    near = daemon.say("search", "--meaning", QUESTIONS[1], "--since", "7d")
    assert "1.00" in near
    assert "3 of 4 questions have a vector" in near
