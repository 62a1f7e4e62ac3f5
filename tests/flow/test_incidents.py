"""Incidents over the API: read, told, acted upon, and why in ten lines."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import httpx2
import pytest

from alerts.incidents.job import IncidentJob
from alerts.incidents.settings import IncidentSettings
from ragvigil.app.pipeline.catch_up import Lag
from ragvigil.app.sources.incidents import Incidents
from ragvigil.model.delta import Delta, Moved, Series
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.issue import IssueState
from ragvigil.model.notice import ChangeKind, Notice
from ragvigil.model.score import Layer
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import rubric_deltas
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from tests.flow.test_api import NANOS, NOW, Quiet, keep, outcome
from tests.issues import issue
from tests.issues import keep as keep_issue

TRACE = "a" * 32


def finding(name: str, *, minutes: int = 5, service: str = "desk", page: bool = True) -> Finding:
    return Finding(
        finding_id=name,
        kind=FindingKind.BROKEN if page else FindingKind.MOVED,
        service=service,
        environment="prod",
        routes=("/refunds",),
        signal="citation_validity:failed",
        layer=Layer.CROSS_CUTTING,
        value=0.93,
        reference=0.3,
        n=41,
        since_unix_nano=(NOW - 60 * minutes) * NANOS,
        seen_unix_nano=NOW * NANOS,
        traces=(TRACE,),
        words="38 of 41 answers cite what is not there",
    )


def change(route: str = "/refunds") -> Notice:
    return Notice(
        notice_id=f"n{route}",
        kind=ChangeKind.PROMPT,
        service="desk",
        environment="prod",
        route=route,
        since_unix_nano=(NOW - 600) * NANOS,
        noticed_unix_nano=(NOW - 590) * NANOS,
        requests=12,
        before="v1",
        after="v2",
    )


class Backlog(Quiet):
    """A daemon with spans that wait."""

    def __init__(self, waiting: int = 0) -> None:
        self._waiting = waiting

    def behind(self) -> str:
        return str(Lag(spans=self._waiting, is_restart=True)) if self._waiting else ""


class Watched:
    """A job over the store, and a client of the API in front of it."""

    def __init__(self, store: Store, waiting: int = 0, keep_seconds: float = 0.0) -> None:
        self.job = IncidentJob(store, IncidentSettings(), clock=lambda: NOW + 1.0)
        status = Backlog(waiting)
        source = Incidents(store, self.job, status, lambda: float(NOW))
        settings = WebSettings(allowed_hosts=("testserver",))
        clock = lambda: datetime.fromtimestamp(NOW, UTC)  # noqa: E731
        app = api(store, status, settings, watching=source, clock=clock, keep_seconds=keep_seconds)
        transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
        self.client = httpx2.AsyncClient(
            transport=transport, base_url="http://127.0.0.1:8088/api/v1"
        )

    async def why(self, **asked: str) -> list[str]:
        found = (await self.client.get("/why", params=asked)).json()["lines"]
        assert 1 <= len(found) <= 10
        return list(found)


@pytest.fixture
def watched(store: Store) -> Watched:
    return Watched(store)


async def test_an_incident_is_listed_with_its_message_and_told_with_its_events(
    watched: Watched,
) -> None:
    opened = watched.job.run(NOW, [finding("a")], [change()])[0]
    listed = (await watched.client.get("/incidents")).json()
    assert listed["pages"] == {"pages": 1, "judged": 0, "false_pages": 0, "precision": None}
    incident = listed["incidents"][0]
    assert incident["incident_id"] == opened.incident_id
    assert incident["message"][0].startswith("38 of 41 answers")
    assert incident["suspects"][0]["kind"] == "prompt"
    assert incident["resolved"] is None
    story = (await watched.client.get(f"/incidents/{opened.incident_id}")).json()
    assert [event["verb"] for event in story["events"]] == ["opened"]


async def test_incidents_are_found_by_state_service_and_time(watched: Watched) -> None:
    watched.job.run(NOW, [finding("a"), finding("b", service="shop", page=False)], [])
    for asked, expected in (
        ({"service": "shop"}, 1),
        ({"state": "open"}, 2),
        ({"state": "resolved"}, 0),
        ({"since": str(NOW + 60)}, 2),
    ):
        found = (await watched.client.get("/incidents", params=asked)).json()
        assert len(found["incidents"]) == expected, asked


async def test_a_person_resolves_and_calls_it_false_and_the_precision_is_shown(
    watched: Watched,
) -> None:
    name = watched.job.run(NOW, [finding("a")], [])[0].incident_id
    reply = await watched.client.post(f"/incidents/{name}/false_page", json={"text": "a load test"})
    assert reply.json()["is_false_page"] is True
    listed = (await watched.client.get("/incidents")).json()
    assert listed["pages"] == {"pages": 1, "judged": 1, "false_pages": 1, "precision": 0.0}
    story = (await watched.client.get(f"/incidents/{name}")).json()
    assert story["events"][-1]["text"] == "a load test"


async def test_who_has_resolved_an_incident_reads_that_it_is_resolved(store: Store) -> None:
    watched = Watched(store, keep_seconds=60)
    name = watched.job.run(NOW, [finding("a")], [])[0].incident_id

    async def states() -> list[str]:
        found = (await watched.client.get("/incidents")).json()["incidents"]
        return [incident["state"] for incident in found]

    assert await states() == await states() == ["open"]
    await watched.client.post(f"/incidents/{name}/resolve", json={})
    assert await states() == ["resolved"]


async def test_verbs_that_do_not_fit_are_refused_by_name(watched: Watched) -> None:
    name = watched.job.run(NOW, [finding("a")], [])[0].incident_id
    past = datetime.fromtimestamp(NOW - 60, UTC).isoformat()
    for path, body, status in (
        (f"{name}/snooze", {}, 422),
        (f"{name}/snooze", {"until": past}, 409),
        (f"{name}/opened", {}, 422),
        (f"{name}/resolve", {"nobody": "x"}, 422),
        ("none/resolve", {}, 404),
        (f"{name}/resolve", {}, 200),
        (f"{name}/acknowledge", {}, 409),
    ):
        reply = await watched.client.post(f"/incidents/{path}", json=body)
        assert reply.status_code == status, (path, reply.text)
    assert "is resolved" in reply.json()["error"]["message"]
    assert (await watched.client.get("/incidents/none")).status_code == 404


async def test_without_a_watch_there_are_no_incidents(store: Store) -> None:
    app = api(store, Quiet(), WebSettings())
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        assert (await client.get("/api/v1/incidents")).status_code == 404


async def test_why_tells_open_incidents_first(store: Store, watched: Watched) -> None:
    keep(store, [outcome(1, NOW - 60)])
    found = [finding("a"), *(finding(f"s{n}", service=f"s{n}", page=False) for n in range(9))]
    watched.job.run(NOW, found, [change()])
    told = await watched.why()
    assert told[0].startswith("38 of 41 answers cite what is not there")
    assert len(told) == 10
    assert told[-1].startswith("also open: ticket")
    assert (await watched.why(route="/refunds", service="desk"))[0] == told[0]
    assert "nothing is known to be wrong" in await watched.why(route="/other", service="desk")


async def test_why_tells_what_changed_and_what_could_be_seen(store: Store) -> None:
    keep(store, [outcome(1, NOW - 600)])
    series = Series(service="desk", environment="prod", route="/refunds", rubric="groundedness")
    delta = Delta(series=series, tick=NOW - 300, window="24h", n=80, detection_limit=0.12)
    store.write(rubric_deltas.batch([delta], NOW * NANOS))
    watched = Watched(store)
    watched.job.run(NOW, [], [change()])
    told = await watched.why(route="/refunds")
    assert told[0] == "nothing is known to be wrong"
    assert any(line.startswith("noticed: prompt on /refunds") for line in told)
    assert "drops that would show in 24 h, in points: groundedness 12 or more" in told
    assert any(line.startswith("watching: 1 answer on 1 route in 24 h") for line in told)


async def test_why_names_issues_whose_answers_fail(store: Store) -> None:
    keep(store, [outcome(1, NOW - 600)])
    for number, state in enumerate((IssueState.NEW, IssueState.REGRESSED, IssueState.ONGOING)):
        last = (NOW - 60) * NANOS
        known = issue(f"i{number}", state=state, last_unix_nano=last, routes=("/refunds",))
        keep_issue(store, [], known)
    old = issue("old", state=IssueState.NEW, last_unix_nano=(NOW - 90_000) * NANOS)
    keep_issue(store, [], old)
    told = await Watched(store).why(route="/refunds")
    assert told[0] == "no incident is open, but not all is well:"
    assert told[1].startswith("regressed issue: ")
    assert told[1].endswith("`ragvigil issues show i1`")
    assert told[2].startswith("new issue: ")
    assert told[2].endswith("`ragvigil issues show i0`")
    assert ", 22 failing answers since " in told[2]
    assert not any(" i2" in line or " old" in line or "nothing is known" in line for line in told)
    assert "nothing is known to be wrong" in await Watched(store).why(route="/other")


async def test_why_names_means_that_fell(store: Store) -> None:
    keep(store, [outcome(1, NOW - 600)])
    series = Series(service="desk", environment="prod", route="/refunds", rubric="groundedness")
    fell = Delta(
        series=series,
        tick=NOW - 300,
        window="6h",
        n=80,
        delta=-0.565,
        high=-0.5,
        moved=Moved.FELL,
    )
    little = replace(fell, series=replace(series, rubric="refusal"), delta=-0.1, high=-0.03)
    store.write(rubric_deltas.batch([fell, little], NOW * NANOS))
    told = await Watched(store).why(route="/refunds")
    assert told[:2] == [
        "no incident is open, but not all is well:",
        "groundedness on /refunds is worse by 56 points: `ragvigil deltas`",
    ]
    assert not any("refusal" in line for line in told)


async def test_why_says_that_nothing_is_watched(store: Store) -> None:
    assert (await Watched(store).why())[0].startswith("not watching: no answers came in 24 h")
    assert any(
        "12,000 spans to go; the lines" in line for line in await Watched(store, 12_000).why()
    )
