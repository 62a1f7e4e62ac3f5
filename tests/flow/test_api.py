"""From stored outcomes to the JSON of the API, through the embedded store."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest
from prometheus_client import REGISTRY

from alerts.deltas.job import DeltaJob, run_deltas
from alerts.settings import AlertsSettings
from ragvigil.app.sources.judges import judge_source
from ragvigil.model.outcome import Outcome, ScoredRecord, TraceOutcome
from ragvigil.model.record import Absent, Citation, ContextSource, Document, RagRecord
from ragvigil.model.score import Layer, Score
from ragvigil.model.span import Closed, Resource, Span, Trace
from ragvigil.store.engine.store import Store
from ragvigil.store.records.traces import RubricFacts, TraceRows
from ragvigil.store.scores import rollups
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from ragvigil.web.views.doctor import DoctorForm

TODAY = datetime.now(UTC).replace(hour=9, minute=2, second=0, microsecond=0) - timedelta(days=1)
"""A day within the retention of the tables, at a fixed hour that is over whenever this runs."""
NOW = int(TODAY.timestamp())
NANOS = 10**9
HOUR = 3600
DAY = 86_400
QUOTE = "5 to 7 days"
RUBRICS = {"citation_validity": RubricFacts(version="1", fails_below=1.0)}


class Quiet:
    """A daemon that has little to say."""

    def status(self) -> Mapping[str, object]:
        ledger = self.ledger()
        return {"spans": ledger["spans"], "traces": ledger["records"]}

    def judge(self) -> Mapping[str, object]:
        return {}

    def behind(self) -> str:
        return ""

    def ledger(self) -> Mapping[str, Mapping[str, int]]:
        names = ("acknowledged", "stored", "duplicate", "quarantined", "lost", "in_spool")
        spans = dict.fromkeys(names, 0)
        records = dict.fromkeys(("scored", "not_rag", "shed", "late", "unparseable", "offline"), 0)
        return {"spans": spans, "records": records}

    def doctor(self) -> DoctorForm:
        return DoctorForm(services=[], sources=[])


def at_hour(hour: int) -> str:
    return TODAY.replace(hour=hour, minute=0).isoformat().replace("+00:00", "Z")


def client(store: Store, now: int = NOW, *, is_prebuilt: bool = False) -> httpx2.AsyncClient:
    app = api(
        store,
        Quiet(),
        WebSettings(),
        clock=lambda: datetime.fromtimestamp(now, UTC),
        is_prebuilt=is_prebuilt,
    )
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8088")


def outcome(number: int, at: int, *, route: str = "/refunds", value: float | None = 1.0) -> Outcome:
    """A trace with one record, scored `value` by citation_validity."""
    trace_id = f"{number:032x}"
    nanos = at * 10**9
    span = Span(
        trace_id=trace_id,
        span_id=f"{number:016x}",
        name="answer",
        start_unix_nano=nanos - 10**9,
        end_unix_nano=nanos,
        resource=Resource(attributes={"service.name": "desk"}),
    )
    chunk = Document(
        chunk_id="refund-02",
        document_id="refunds.md",
        content="Refunds take 5 to 7 days.",
        text_hash="h",
        score=0.9,
    )
    record = RagRecord(
        record_id=span.span_id,
        trace_id=trace_id,
        service="desk",
        environment="prod",
        route=route,
        query="How long do refunds take?",
        retrieved=(chunk,),
        context=(chunk,),
        context_source=ContextSource.RETRIEVED,
        answer='Refunds take "5 to 7 days" [1].',
        citations=(
            Citation(
                target="1", chunk_id="refund-02", document_id="refunds.md", quote="5 to 7 days"
            ),
        ),
        absent={"reranked": Absent.NOT_RUN},
        session_id="session-1",
        response_ids=(f"resp-{number}",),
        started_unix_nano=nanos - 10**9,
        ended_unix_nano=nanos,
    )
    is_bad = value is not None and value < 1
    scores = (
        Score(
            rubric="citation_validity",
            value=value,
            label="quote_not_found" if is_bad else "",
            explanation="the quote stands in no chunk" if is_bad else "",
            layer=Layer.CROSS_CUTTING,
            scorer="citation_validity",
            version="1",
        ),
        Score(rubric="refusal", label="answered", layer=Layer.GENERATION, scorer="refusal"),
    )
    return Outcome(
        trace=Trace(
            trace_id=trace_id, spans=(span,), closed=Closed.ROOT_ENDED, received_unix_nano=nanos
        ),
        outcome=TraceOutcome.SCORED,
        time_unix_nano=nanos,
        records=(ScoredRecord(record=record, scores=scores, shape={"answer_length": 31.0}),),
    )


def keep(store: Store, outcomes: Iterable[Outcome], at: int = NOW - 1) -> None:
    """Stores outcomes and brings the roll-ups up to date, `at` that time."""
    rows = TraceRows(RUBRICS)
    for each in outcomes:
        rows.add(each)
    batch = rows.take()
    store.write(batch)
    rollups.recompute(store, batch.minutes, version=at * NANOS)


def traffic(
    days: int = 8, *, every: int = 900, onset: int = NOW - NOW % HOUR - 6 * HOUR
) -> list[Outcome]:
    """An answer every 15 minutes on two routes; on one, citations fail since `onset`."""
    times = range(NOW - days * DAY, NOW, every)
    return [
        outcome(
            2 * number + place + 1,
            at,
            route=route,
            value=0.0 if route == "/refunds" and at >= onset and number % 5 else 1.0,
        )
        for number, at in enumerate(times)
        for place, route in enumerate(("/refunds", "/billing"))
    ]


async def test_a_trace_is_shown_with_everything_that_was_said_of_it(store: Store) -> None:
    keep(store, [outcome(7, NOW - 60, value=0.5)])
    reply = await client(store).get(f"/api/v1/traces/{7:032X}")
    assert reply.status_code == 200
    (record,) = reply.json()["records"]
    assert reply.json()["trace_id"] == f"{7:032x}"
    assert record["query"] == "How long do refunds take?"
    expected = {
        "id": "refund-02",
        "document_id": "refunds.md",
        "content": "Refunds take 5 to 7 days.",
        "score": 0.9,
        "rank": 0,
        "metadata": {},
    }
    assert record["retrieved"] == [expected]
    assert record["context"] == [expected]
    assert record["reranked"] == []
    assert record["absent"] == {"reranked": "not_run"}
    assert record["citations"][0]["quote"] == "5 to 7 days"
    assert record["citations"][0]["document_id"] == "refund-02"
    by_rubric = {score["rubric"]: score for score in record["scores"]}
    assert by_rubric["citation_validity"]["value"] == 0.5
    assert by_rubric["citation_validity"]["label"] == "quote_not_found"
    assert by_rubric["citation_validity"]["layer"] == "cross_cutting"
    assert by_rubric["refusal"]["value"] is None
    assert record["shape"] == {"answer_length": 31.0}


async def test_a_trace_that_is_not_stored_is_404_and_a_wrong_id_422(store: Store) -> None:
    assert (await client(store).get(f"/api/v1/traces/{1:032x}")).status_code == 404
    assert (await client(store).get("/api/v1/traces/xyz")).status_code == 422


async def test_records_are_found_by_route_rubric_score_label_and_time(store: Store) -> None:
    keep(
        store,
        [
            outcome(1, NOW - 100, value=0.5),
            outcome(2, NOW - 200, value=0.25),
            outcome(3, NOW - 300),
            outcome(4, NOW - 400, route="/billing", value=0.0),
            outcome(5, NOW - 2 * DAY, value=0.0),
        ],
    )

    async def found(**parameters: object) -> list[int]:
        reply = await client(store).get("/api/v1/records", params=parameters)  # type: ignore[arg-type]
        assert reply.status_code == 200, reply.text
        return [int(record["trace_id"], 16) for record in reply.json()["records"]]

    assert await found() == [1, 2, 3, 4]
    assert await found(route="/refunds", rubric="citation_validity", below=0.9) == [2, 1]
    assert await found(label="quote_not_found", route="/billing") == [4]
    assert await found(since="7d", limit=2) == [1, 2]
    assert await found(since=str(NOW - 240)) == [1, 2]
    assert await found(since=TODAY.replace(minute=58, hour=8).isoformat()) == [1, 2]
    assert await found(route="/nowhere") == []


async def test_records_end_before_until(store: Store) -> None:
    keep(store, [outcome(number, NOW - 100 * number) for number in (1, 2, 3)])
    asking = client(store)
    reply = (
        await asking.get("/api/v1/records", params={"since": "1h", "until": str(NOW - 200)})
    ).json()
    assert [int(record["trace_id"], 16) for record in reply["records"]] == [3]
    assert (reply["since"], reply["until"]) == (when(NOW - HOUR), when(NOW - 200))
    default = (await asking.get("/api/v1/records")).json()
    assert (default["since"], default["until"]) == (when(NOW - DAY), None)
    backwards = await asking.get("/api/v1/records", params={"since": "1h", "until": "2h"})
    sentence = "query.until: 2h is not after since, 1h"
    assert (backwards.status_code, backwards.json()["error"]["message"]) == (422, sentence)


def when(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


@pytest.mark.parametrize("chosen", [{}, {"below": 0.9}, {"label": "quote_not_found"}], ids=str)
async def test_pages_of_records_follow_one_another_without_gap_or_repetition(
    store: Store, chosen: dict[str, object]
) -> None:
    """Also while newer answers arrive, at equal times and scores, and while the clock goes on."""
    values = [0.5, 0.5, 0.25, 0.0, 0.5, 0.25, 0.5]
    keep(store, [outcome(n, NOW - 60 - n // 3, value=v) for n, v in enumerate(values, 1)])
    everything = await page(client(store), {**chosen, "limit": 100})
    found, cursor, late = [], "", NOW
    while len(found) < 20:
        late += 600
        at = {"cursor": cursor} if cursor else {}
        reply = await page(client(store, late), {**chosen, **at, "limit": 2})
        found += reply["records"]
        keep(store, [outcome(late, NOW + 600, value=1.0)])
        cursor = reply["next"]
        if cursor is None:
            break
    ids = [record["trace_id"] for record in found]
    assert ids == [record["trace_id"] for record in everything["records"]]
    assert len(ids) == len(values)


async def page(asking: httpx2.AsyncClient, parameters: dict[str, object]) -> Any:
    reply = await asking.get("/api/v1/records", params=parameters)  # type: ignore[arg-type]
    assert reply.status_code == 200, reply.text
    return reply.json()


async def test_a_cursor_belongs_to_its_parameters(store: Store) -> None:
    keep(store, [outcome(number, NOW - 100 * number) for number in (1, 2, 3)])
    asking = client(store)
    cursor = (await page(asking, {"limit": 1, "route": "/refunds"}))["next"]
    written = base64.urlsafe_b64decode(cursor + "===").replace(b"/", b"!")
    moved = base64.urlsafe_b64encode(written.replace(b",0.0,", b",0.5,")).decode()
    for wrong in ({"cursor": cursor}, *({"cursor": c, "route": "/refunds"} for c in
                                        (cursor[:-3], moved, "x", "W10", "%", "é"))):  # fmt: skip
        reply = await asking.get("/api/v1/records", params=wrong)
        assert reply.status_code == 422, wrong
        assert "no `next` of a reply" in reply.json()["error"]["message"]


async def test_a_rubric_that_does_not_exist_is_named_on_every_route(store: Store) -> None:
    judging = judge_source(store, lambda: ["citation_validity", "refusal"], {}, time.time)
    app = api(store, Quiet(), WebSettings(), judging=judging)
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    asking = httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8088")
    told = "query.rubric: there is no rubric validity; there are citation_validity, refusal"
    for route in ("records", "deltas", "judges", "estimates", "disagreements", "labels"):
        reply = await asking.get(f"/api/v1/{route}", params={"rubric": "validity"})
        assert (reply.status_code, reply.json()["error"]["message"]) == (422, told)
        for known in ("", "refusal", "citation_validity:failed"):
            reply = await asking.get(f"/api/v1/{route}", params={"rubric": known})
            assert reply.status_code == 200


async def test_a_trace_says_that_its_own_clock_was_not_believed(store: Store) -> None:
    right, wrong = outcome(1, NOW - 100), outcome(2, NOW - 100)
    (scored,) = wrong.records
    year = 365 * DAY * NANOS
    record = replace(
        scored.record,
        started_unix_nano=scored.record.started_unix_nano - year,
        ended_unix_nano=scored.record.ended_unix_nano - year,
    )
    keep(store, [right, replace(wrong, records=(replace(scored, record=record),))])
    said = {}
    for number in (1, 2):
        reply = await client(store).get(f"/api/v1/traces/{number:032x}")
        (form,) = reply.json()["records"]
        said[number] = form["clock_replaced"]
    assert said == {1: False, 2: True}


async def test_a_drop_is_shown_with_its_hour_and_a_steady_route_without(store: Store) -> None:
    keep(store, traffic())
    ran = run_deltas(store, NOW, AlertsSettings(), failing={"citation_validity"})
    assert ran.ticks > 8 * 288 - 5
    asking = client(store)
    reply = await asking.get("/api/v1/deltas", params={"moved": True})
    found = {(row["route"], row["rubric"]): row for row in reply.json()["deltas"]}
    assert set(found) == {
        ("/refunds", "citation_validity"),
        ("/refunds", "citation_validity:failed"),
    }
    row = found["/refunds", "citation_validity"]
    assert row["window"] == "6h"
    assert row["moved"] == "fell"
    assert row["since"] == at_hour(3)
    assert row["baseline"] == 1.0
    assert row["baseline_kind"] == "same_hours"
    assert row["low"] <= row["delta"] <= row["high"] < -0.02
    assert row["n"] == 23
    assert len(row["hours"]) == 24
    assert row["hours"][0] == 1.0
    assert row["hours"][-2] < 0.5

    steady = {"route": "/billing", "rubric": "citation_validity"}
    rows = (await asking.get("/api/v1/deltas", params=steady)).json()["deltas"]
    assert [row["window"] for row in rows] == ["30m", "90m", "6h", "24h"]
    assert {row["moved"] for row in rows} == {""}
    assert {row["mean"] for row in rows} == {1.0}
    six_hours = {**steady, "window": "6h", "since": "2h"}
    history = (await asking.get("/api/v1/deltas", params=six_hours)).json()["deltas"]
    ticks = [datetime.fromisoformat(row["tick"]) for row in history]
    assert ticks == sorted(ticks)
    # Two full hours, and the ticks at which an answer came or went: a row stands until the next.
    assert len([tick for tick in ticks if tick.minute == 0]) == 2
    assert len(ticks) < 12
    assert {row["mean"] for row in history} == {1.0}

    # What Prometheus shows is the running tick.
    assert {delta.tick for delta in ran.newest} == {NOW - NOW % 300 + 300}
    moved = [delta for delta in ran.newest if delta.moved and ":" not in delta.series.rubric]
    assert [delta.series.route for delta in moved] == ["/refunds"]


async def test_running_the_ticks_again_changes_nothing(store: Store) -> None:
    keep(store, traffic(1, every=3600))
    run_deltas(store, NOW, AlertsSettings(), failing={"citation_validity"})
    before = (await client(store).get("/api/v1/deltas")).json()
    count = await _rows(store)
    later = run_deltas(store, NOW + 1, AlertsSettings(), failing={"citation_validity"})
    assert (await client(store).get("/api/v1/deltas")).json() == before
    assert await _rows(store) == count
    assert later.newest


async def _rows(store: Store) -> int:
    reply = await client(store).get("/api/v1/deltas", params={"since": "9d", "window": "6h"})
    return len(reply.json()["deltas"])


async def test_a_late_record_amends_history(store: Store) -> None:
    keep(store, traffic(1, every=3600))
    run_deltas(store, NOW, AlertsSettings(), failing=())
    late = NOW - 3 * HOUR - 1800
    bad = [outcome(90_000 + number, late, route="/billing", value=0.0) for number in range(5)]
    keep(store, bad, at=NOW + 30)
    run_deltas(store, NOW + 60, AlertsSettings(), failing=())
    parameters = {
        "route": "/billing",
        "rubric": "citation_validity",
        "window": "15m",
        "since": "4h",
    }
    rows = (await client(store).get("/api/v1/deltas", params=parameters)).json()["deltas"]
    (place,) = [place for place, row in enumerate(rows) if row["n"] == 5]
    amended, after = rows[place : place + 2]
    assert amended["mean"] == 0.0
    # It stands for the three ticks of its window, which then holds nothing.
    assert after["mean"] is None
    assert (after["n"], after["coverage"]) == (0, None)
    assert time_between(amended, after) == timedelta(minutes=15)


def time_between(earlier: dict[str, str], later: dict[str, str]) -> timedelta:
    first, last = (datetime.fromisoformat(row["tick"]) for row in (earlier, later))
    return last - first


async def test_a_job_does_what_changed_and_nothing_twice(store: Store) -> None:
    keep(store, traffic(1, every=7200))
    job = DeltaJob(store, AlertsSettings(), failing=())
    assert job.run(NOW).ticks > 280
    assert job.run(NOW + 15).ticks == 3
    keep(store, [outcome(90_000, NOW - 2 * HOUR)], at=NOW + 20)
    assert 24 <= job.run(NOW + 30).ticks <= 30
    assert job.run(NOW + 45).ticks == 3


async def test_days_are_read_once_for_late_ticks_and_present_ones(store: Store) -> None:
    keep(store, traffic(1, every=7200))
    run_deltas(store, NOW, AlertsSettings(), failing=())
    before = _reads_of_days()
    run_deltas(store, NOW + 60, AlertsSettings(), failing=())
    assert _reads_of_days() == before + 1


def _reads_of_days() -> float:
    labels = {"query": "judged_series"}
    return REGISTRY.get_sample_value("ragvigil_store_query_seconds_count", labels) or 0.0


async def test_roll_ups_that_come_in_pieces_are_all_seen(store: Store) -> None:
    old, older = outcome(1, NOW - 30 * HOUR), outcome(2, NOW - 40 * HOUR)
    keep(store, [older])
    job = DeltaJob(store, AlertsSettings(), failing=())
    job.run(NOW)
    keep(store, [old])  # the same version as the first piece, visible after the run
    assert job.run(NOW + 15).ticks > 100


@pytest.mark.parametrize(
    "named",
    [
        {"trace_id": f"{7:032x}"},
        {"span_id": f"{7:016x}"},
        {"session_id": "session-1"},
        {"response_id": "resp-7"},
    ],
)
async def test_feedback_reaches_its_answer(store: Store, named: dict[str, str]) -> None:
    keep(store, [outcome(7, NOW - 60)])
    asking = client(store)
    post = {**named, "kind": "thumbs", "value": "down", "comment": "wrong"}
    reply = await asking.post("/api/v1/feedback", json=post)
    assert reply.status_code == 201, reply.text
    assert reply.json()["matched"] is True
    (record,) = (await asking.get(f"/api/v1/traces/{7:032x}")).json()["records"]
    (said,) = record["feedback"]
    assert (said["kind"], said["value"], said["comment"]) == ("thumbs", 0.0, "wrong")


async def test_feedback_may_come_before_its_answer(store: Store) -> None:
    asking = client(store)
    reply = await asking.post(
        "/api/v1/feedback", json={"trace_id": f"{7:032x}", "kind": "escalation"}
    )
    assert reply.status_code == 202
    keep(store, [outcome(7, NOW - 60)])
    (record,) = (await asking.get(f"/api/v1/traces/{7:032x}")).json()["records"]
    assert [feedback["kind"] for feedback in record["feedback"]] == ["escalation"]


async def test_the_same_feedback_twice_is_one(store: Store) -> None:
    keep(store, [outcome(7, NOW - 60)])
    asking = client(store)
    post = {"trace_id": f"{7:032x}", "kind": "retry", "time": at_hour(9)}
    ids = {(await asking.post("/api/v1/feedback", json=post)).json()["id"] for _ in range(2)}
    assert len(ids) == 1
    (record,) = (await asking.get(f"/api/v1/traces/{7:032x}")).json()["records"]
    assert len(record["feedback"]) == 1


async def test_a_deploy_mark_is_kept_once(store: Store) -> None:
    asking = client(store)
    post = {"service": "desk", "version": "2.4.0", "time": at_hour(3)}
    for _ in range(2):
        assert (await asking.post("/api/v1/deploys", json=post)).status_code == 201
    (mark,) = (await asking.get("/api/v1/deploys")).json()["deploys"]
    assert (mark["service"], mark["version"]) == ("desk", "2.4.0")
    assert mark["time"] == at_hour(3)
