"""The page of topics over a real store: its sentence, its table, its gaps, what it waits for."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from clustering.topics import layout
from ragvigil.app.sources.topics import Topics
from ragvigil.model.figures import share
from ragvigil.store.engine.store import Store
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from tests.flow.test_api import Quiet
from tests.unit.clustering.topics.test_job import SETTINGS, Job, ask
from tests.unit.ragvigil.store.issues.test_topics import about, rate, write
from tests.unit.ragvigil.web.pages.test_answers import heading


@pytest.fixture
def job(store: Store) -> Job:
    return Job(store=store)


def client(store: Store, job: Job) -> httpx2.AsyncClient:
    app = api(store, Quiet(), WebSettings(), charting=Topics(store, job.job, SETTINGS))
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8088")


async def page(store: Store, job: Job, path: str = "/topics") -> str:
    reply = await client(store, job).get(path)
    assert reply.status_code == 200, reply.text
    return reply.text


async def test_before_the_first_map_it_says_what_is_missing(store: Store, job: Job) -> None:
    html = await page(store, job)
    assert heading(html) == "No topics yet"
    assert "No question has been embedded yet" in html
    ask(store, range(40))
    job.run()
    assert "40 of 50 questions are there" in await page(store, job)
    job.model.is_there = False
    write(store, [about(99, "a refund")])
    job.run()
    assert "no model here" in await page(store, job)


async def test_the_page_says_what_the_api_says(store: Store, job: Job) -> None:
    """Refunds 200 of 400 questions; 30 of 100 parcels are rated down, and hardly any refund."""
    ask(store, range(400))
    for number in range(400):
        if number % 4 == 1:
            rate(store, number, float(number % 40 not in (1, 5, 9)))
    rate(store, 4, 0.0)
    job.golden = ["a refund, please"]
    job.run()
    html = await page(store, job)
    (told,) = (await client(store, job).get("/api/v1/topics")).json()["maps"]
    (parcel,) = [topic for topic in told["topics"] if topic["fails_more"]]
    assert parcel["name"].startswith("parcel")
    question = parcel["examples"][0]
    assert heading(html) == f"3 topics; one fails more than the rest: “{question}”"
    rows = re.findall(r"<tr data-row[^>]*>(.*?)</tr>", html, re.DOTALL)
    assert len(rows) == len(told["topics"])
    words = [unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", row))) for row in rows]
    assert question in words[0]
    assert f"{share(parcel['failing']['share'])} " in words[0]
    low, high = parcel["thumbs_down"]["low"], parcel["thumbs_down"]["high"]
    assert f"between {share(low)} and {share(high)}, 30 of 100" in words[0]
    assert sum("nobody rated" in row for row in words) == sum(
        not topic["thumbs_down"]["of"] for topic in told["topics"]
    )
    gaps = [topic["examples"][0] for topic in told["topics"] if topic["is_gap"]]
    assert len(gaps) == 2
    assert "No golden case covers 2 large topics" in html
    assert html.count("Choose an answer to propose") == len(gaps)
    assert html.count('<circle class="hue-') == len(told["topics"])


async def test_the_table_and_the_map_lead_to_the_answers_of_a_topic(store: Store, job: Job) -> None:
    ask(store, range(60))
    job.run()
    html = await page(store, job, "/topics?route=%2Fask&since=1h")
    (told,) = (await client(store, job).get("/api/v1/topics")).json()["maps"]
    for topic in told["topics"]:
        addresses = {
            unescape(address)
            for address in re.findall(r'href="([^"]*)"', html)
            if topic["topic_id"] in address and "/answers" in address
        }
        for address in addresses:
            asked = {key: value[0] for key, value in parse_qs(urlsplit(address).query).items()}
            assert (asked["service"], asked["environment"]) == ("helpdesk", "prod")
            counts = (await client(store, job).get("/api/v1/record-counts", params=asked)).json()
            assert counts["answers"] == topic["asked"]["count"]
            shown = (await client(store, job).get(address)).text
            assert f"in the topic “{topic['examples'][0]}”" in heading(shown)


async def test_names_from_outside_are_text(store: Store, job: Job) -> None:
    write(store, [about(number, "<script>alert(1)</script> refund") for number in range(60)])
    job.run()
    html = await page(store, job)
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt; refund" in html


def test_the_map_is_the_same_whatever_the_order() -> None:
    centroids = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.6, 0.8), (0.6, 0.8, 0.0)]
    once = layout.places(centroids)
    again = layout.places(centroids[::-1])[::-1]
    assert abs(once - again).max() < 1e-6
    assert abs(once).max() <= 1.0


@pytest.mark.parametrize("centroids", [[], [(1.0, 0.0)], [(), (1.0,)], [(1.0, 0.0)] * 3])
def test_a_map_of_nearly_nothing_is_a_map(centroids: list[tuple[float, ...]]) -> None:
    assert layout.places(centroids).shape == (len(centroids), 2)
    assert not abs(layout.places(centroids)).any()
