"""The page of a route says how it is doing, whatever its name, and what the API says."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from urllib.parse import urlencode

import httpx2
import pytest

from alerts.deltas.job import run_deltas
from alerts.settings import AlertsSettings
from ragvigil.model.delta import BaselineKind, Delta, Moved, Series
from ragvigil.model.notice import ChangeKind, Notice
from ragvigil.model.score import Kind, Layer
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import rubric_deltas
from ragvigil.store.watch import notices
from ragvigil.web.views.route.charts import chart
from ragvigil.web.views.route.story import RubricStory
from ragvigil.web.views.series import PointForm, SeriesForm
from tests.flow.test_api import client
from tests.unit.ragvigil.web.views.test_series import NOON, write

NANOS = 10**9
HOUR, DAY = 3600, 86_400
NAMES = [
    "/refunds/ask",
    "/a b/../../etc/passwd",
    "/ü/问?x=1&y=2#z",
    "%2e%2e/%00",
    '"><script>alert(1)</script>',
    "{{ 7 * 7 }}",
    "none",
    "?",
    "javascript:alert(1)",
]


def seed(store: Store, route: str, *, falls: bool) -> None:
    """Eight days at 1.0, and six hours at 0.25 if it falls."""
    begin = NOON - 8 * DAY
    scored = [(at, 1.0) for at in range(begin, NOON - 6 * HOUR, 5400)]
    last = [(at, 0.25 if falls else 1.0) for at in range(NOON - 6 * HOUR, NOON, 360)]
    write(store, [*scored, *last], route=route)
    run_deltas(store, NOON + 60, AlertsSettings(), failing=["citation_validity"])


def text_of(html: str) -> str:
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)))


def heading(html: str) -> str:
    found = re.search(r"<h1>(.*?)</h1>", html, re.DOTALL)
    assert found is not None
    return unescape(found[1]).strip()


async def page(store: Store, path: str = "/routes", **query: str) -> httpx2.Response:
    return await client(store, NOON + 60).get(f"{path}?{urlencode(query)}")


@pytest.mark.parametrize("name", NAMES)
async def test_a_route_of_any_name_has_a_page(store: Store, name: str) -> None:
    write(store, [(NOON - HOUR, 1.0), (NOON - HOUR, 0.5)], route=name)
    reply = await page(store, route=name)
    assert reply.status_code == 200
    assert name in heading(reply.text)
    assert "<script>alert" not in reply.text
    assert "49" not in heading(reply.text)
    links = re.findall(r'(?:href|action)="([^"]*)"', reply.text)
    assert all(link.startswith(("/", "#")) for link in links)
    index = await page(store)
    assert name in unescape(index.text)
    assert "<script>alert" not in index.text


async def test_what_fell_is_said_first_with_its_numbers(store: Store) -> None:
    seed(store, "/ask", falls=True)
    change = Notice(
        notice_id="n",
        kind=ChangeKind.PROMPT,
        service="helpdesk",
        environment="prod",
        route="/ask",
        since_unix_nano=(NOON - 6 * HOUR) * NANOS,
        noticed_unix_nano=NOON * NANOS,
        requests=9,
        before="v3",
        after="v5",
    )
    store.write(notices.batch([change], NOON * NANOS))
    html = (await page(store, route="/ask")).text
    assert re.match(r"/ask is worse since \d\d:\d\d: citation validity fell", heading(html))
    here = heading((await page(store, route="/ask", clock="local")).text)
    assert re.match(r"/ask is worse since \d\d:\d\d UTC: citation", here)
    words = text_of(html)
    assert "Citation validity fell by 75 points, at change A." in words
    assert "prompt v3 → v5" in words
    deltas = await client(store, NOON + 60).get(
        "/api/v1/deltas?window=6h&route=/ask&rubric=citation_validity"
    )
    (delta,) = deltas.json()["deltas"]
    assert f"{delta['n']} answers in 6 h" in words
    assert f"−{abs(round(100 * delta['delta']))}" in words
    assert f"sees {round(100 * delta['detection_limit'])} point" in words


async def test_what_holds_says_what_it_would_see(store: Store) -> None:
    seed(store, "/ask", falls=False)
    html = (await page(store, route="/ask")).text
    assert heading(html).startswith("/ask holds: it has not moved")
    assert "would show a drop of" in text_of(html)
    assert "are as good as before" in text_of(html)


async def test_a_route_without_a_past_says_so_and_one_without_answers_too(store: Store) -> None:
    write(store, [(NOON - 60, 1.0)])
    run_deltas(store, NOON + 60, AlertsSettings(), failing=["citation_validity"])
    html = (await page(store, route="/ask")).text
    assert heading(html) == "/ask has not enough answers yet to say how it is doing"
    assert "no past to compare with yet" in text_of(html)
    nothing = (await page(store, route="/nobody", since="1h")).text
    assert heading(nothing) == "No answer came on /nobody in the last hour"
    assert "Health" in text_of(nothing)


async def test_answers_without_a_route_have_a_page_of_their_own(store: Store) -> None:
    write(store, [(NOON - HOUR, 0.0)], route="")
    write(store, [(NOON - HOUR, 1.0)], route="/ask", numbers_from=9)
    html = (await page(store, "/routes/none")).text
    assert "(no route)" in heading(html)
    assert "citation validity is 0.00, from 1 answer" in html
    assert 'href="/routes/none' in (await page(store)).text
    assert heading((await page(store, "/routes/none", route="/ask")).text).startswith("/ask")


async def test_a_chart_can_zoom_to_its_band_and_all_can(store: Store) -> None:
    write(store, [(NOON - HOUR, 1.0)])
    plain, own, every = [
        (await page(store, route="/ask", axis=axis)).text
        for axis in ("", "citation_validity", "zoom")
    ]
    assert "axis=zoom" in plain
    assert "axis=citation_validity" in plain
    assert "Show 0 to 1" in own
    assert "Show all charts from 0 to 1" in every


@pytest.mark.parametrize("is_zoomed", [False, True])
def test_a_chart_that_is_zoomed_leaves_no_room_unused(is_zoomed: bool) -> None:
    points = [
        PointForm(
            start=datetime.fromtimestamp(at, UTC),
            mean=0.82,
            low=0.81,
            high=0.83,
            n=400,
            usual_low=0.8,
            usual_high=0.84,
        )
        for at in range(NOON, NOON + HOUR, 300)
    ]
    series = SeriesForm(
        service="",
        environment="",
        route="/a",
        rubric="groundedness",
        layer=Layer.GENERATION,
        segment="",
        bin_seconds=300,
        points=points,
        delta=None,
    )
    one = RubricStory(rubric="groundedness", layer=Layer.GENERATION, series=series, cell=None)
    begin, end = points[0].start, points[-1].start
    drawn = chart(one, [], begin, end, is_zoomed=is_zoomed)
    assert json.loads(drawn.data)["scale"] == ([0.8, 0.9] if is_zoomed else [0, 1])
    assert drawn.past and drawn.interval and drawn.calm  # noqa: PT018


async def test_a_local_models_row_stands_beside_the_judged_one(store: Store) -> None:
    seed(store, "/ask", falls=False)
    series = (await client(store, NOON + 60).get("/api/v1/series?route=/ask")).json()["series"]
    (segment,) = {each["segment"] for each in series if each["rubric"] == "citation_validity"}
    judged = Series(
        service="helpdesk",
        environment="prod",
        route="/ask",
        rubric="citation_validity",
        layer=Layer.CROSS_CUTTING,
        segment=segment,
        kind=Kind.JUDGE,
    )
    local = replace(judged, segment="r1 local1", kind=Kind.MODEL)
    rows = [
        Delta(
            series=of,
            tick=NOON + 300,
            window="6h",
            n=n,
            mean=mean,
            baseline=0.95,
            baseline_kind=BaselineKind.SAME_HOURS,
            delta=mean - 0.95,
            low=mean - 0.99,
            high=mean - 0.91,
            detection_limit=0.04,
            moved=moved,
        )
        for of, n, mean, moved in ((judged, 40, 0.95, Moved.NO), (local, 600, 0.75, Moved.FELL))
    ]
    store.write(rubric_deltas.batch(rows, time.time_ns()))
    told = (await client(store, NOON + 60).get("/api/v1/series?route=/ask")).json()
    assert [(each["segment"], each["kind"]) for each in told["local"]] == [("r1 local1", "model")]
    words = text_of((await page(store, route="/ask")).text)
    assert "By the judge: 40 answers in 6 h, sees 4 points" in words
    beside = "By a local model, on every answer: 0.75, 600 answers in 6 h, between 16 and 24 lower"
    assert beside in words
    assert "worse −20 points" in words


async def test_a_window_in_the_past_shows_the_comparison_of_that_time(store: Store) -> None:
    seed(store, "/ask", falls=True)
    until = datetime.fromtimestamp(NOON - 7 * HOUR, UTC).isoformat()
    begin = datetime.fromtimestamp(NOON - 20 * HOUR, UTC).isoformat()
    html = (await page(store, route="/ask", since=begin, until=until)).text
    assert "is worse" not in heading(html)
    assert (await page(store, route="/ask", since="soon")).status_code == 422
