"""Operating points from the store to the API."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import httpx2

from ragvigil.app.sources.operating import Operating
from ragvigil.model.feedback import FeedbackEvent
from ragvigil.model.score import Layer, Score
from ragvigil.store.engine.store import Store
from ragvigil.store.records import feedback
from ragvigil.store.records.traces import RubricFacts, TraceRows
from ragvigil.store.scores import rollups
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from tests.flow.test_api import Quiet
from tests.outcomes import NOW, SECOND, outcome_of

AGO = NOW - 1800 * SECOND


def store_requests(store: Store, count: int) -> None:
    rows = TraceRows({"chunk_utilization": RubricFacts(version="1")})
    for number in range(count):
        made = outcome_of(number, time_unix_nano=AGO)
        used = Score(rubric="chunk_utilization", value=0.1, layer=Layer.RETRIEVAL)
        recall = Score(rubric="context_recall", value=number % 2 / 2, layer=Layer.RETRIEVAL)
        shape = {"context_tokens": 1000.0, "input_tokens": 2000.0, "cost_usd": 0.01}
        record = replace(made.records[0], scores=(used, recall), shape=shape)
        rows.add(replace(made, records=(record,)))
    written = store.write(rows.take())
    rollups.recompute(store, written.minutes)


def told(number: int, value: float, **names: str) -> FeedbackEvent:
    named = {"trace_id": f"{number:032x}"} | names
    return FeedbackEvent(
        feedback_id=f"{number} {value} {names}",
        kind="thumbs",
        value=value,
        time_unix_nano=NOW,
        **named,
    )


async def ask(store: Store, query: str = "") -> httpx2.Response:
    app = api(
        store,
        Quiet(),
        WebSettings(),
        pointing=Operating(store),
        clock=lambda: datetime.fromtimestamp(NOW // SECOND, UTC),
    )
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8088") as client:
        return await client.get(f"/api/v1/operating-points{query}")


async def test_use_recall_and_thumbs_become_points_of_their_route(store: Store) -> None:
    store_requests(store, 60)
    # Said twice of one answer counts once; the narrowest id decides which answer is meant.
    said = [told(number, 0.0) for number in range(10)]
    said += [told(number, 1.0) for number in range(30)]
    said += [told(40, 0.0, span_id=f"{40:08x}{0:08x}"), told(41, 0.0, response_id="resp-0029")]
    store.write(feedback.batch(said, NOW))
    found = {point["name"]: point for point in (await ask(store)).json()["operating_points"]}
    assert set(found) == {"over_fetching", "under_fetching", "thumbs_down"}
    assert {(point["service"], point["route"]) for point in found.values()} == {
        ("helpdesk", "/ask")
    }
    assert "54,000 tokens and up to $0.27 a day" in found["over_fetching"]["words"]
    assert found["under_fetching"]["value"] == 0.25
    assert found["thumbs_down"]["words"] == "users dislike 12 of 32 rated answers (38 %)"


async def test_points_can_be_asked_for_by_route(store: Store) -> None:
    store_requests(store, 60)
    assert (await ask(store, "?route=/other")).json() == {"operating_points": []}
    assert (await ask(store, "?route=/ask&service=helpdesk")).json()["operating_points"]


async def test_an_empty_store_has_no_points(store: Store) -> None:
    assert (await ask(store)).json() == {"operating_points": []}
