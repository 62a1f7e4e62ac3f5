"""Issues over the API: what is in them and around them, and what people do to them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ragvigil.model.issue import IssuePair, IssueState, PairVerdict
from ragvigil.model.score import Layer, Stream
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import issues as stored
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from tests.flow.test_api import Quiet, outcome
from tests.flow.test_api import keep as keep_outcomes
from tests.issues import DAY, NANOS, NOW, failure, issue, keep
from tests.served_issues import served


@pytest.fixture
def client(store: Store, tmp_path: Path) -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(served(store, tmp_path), raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8088/api/v1")


async def found(client: httpx2.AsyncClient, path: str, **asked: object) -> Any:
    reply = await client.get(path, params={key: str(value) for key, value in asked.items()})
    assert reply.status_code == 200, reply.text
    return reply.json()


def some_issues(store: Store) -> None:
    keep(store, [failure(n, ago=60 + n) for n in range(4)], issue("i1", members=4))
    sampled = [failure(10 + n, ago=DAY - 60, inclusion_probability=0.07) for n in range(22)]
    keep(store, sampled, issue("i2", members=22, state=IssueState.REGRESSED, name="Days mixed up"))
    other = {"service": "shop", "route": "/cart"}
    keep(
        store,
        [failure(50, **other)],
        issue("i3", service="shop", routes=("/cart",), members=1, family=Layer.RETRIEVAL),
    )


async def test_what_harms_most_answers_stands_first_with_an_honest_count(
    store: Store, client: httpx2.AsyncClient
) -> None:
    some_issues(store)
    listed = (await found(client, "/issues"))["issues"]
    assert [row["issue_id"] for row in listed] == ["i2", "i1", "i3"]
    regressed, new, _ = listed
    assert new["count"] == {"seen": 4, "about": 4, "low": 4, "high": 4, "apart": 0}
    since = datetime.fromtimestamp(NOW - DAY, UTC)
    assert new["days"] == [0] * 13 + [4]
    assert new["message"] == [
        "groundedness: another number of days (/refunds)",
        "4 seen",
        f"Since {since:%a %d %b %H:%M} UTC on /refunds (desk prod)",
        "Layer: generation (groundedness: contradicted)",
        "ragvigil issues show i1",
    ]
    assert regressed["count"]["seen"] == 22
    assert 300 < regressed["count"]["about"] < 330
    assert regressed["message"][1] == "22 seen, about 310 [200, 470]"


async def test_issues_are_found_by_state_service_route_family_and_name(
    store: Store, client: httpx2.AsyncClient
) -> None:
    some_issues(store)
    for asked, expected in (
        ({"state": "regressed"}, ["i2"]),
        ({"service": "shop"}, ["i3"]),
        ({"route": "/refunds"}, ["i2", "i1"]),
        ({"family": "retrieval"}, ["i3"]),
        ({"q": "MIXED"}, ["i2"]),
        ({"q": "i3"}, ["i3"]),
        ({"state": "stale"}, []),
    ):
        listed = await found(client, "/issues", **asked)
        assert [row["issue_id"] for row in listed["issues"]] == expected, asked
    assert len((await found(client, "/issues", limit=1))["issues"]) == 1
    assert (await found(client, "/issues", limit=1))["found"] == 3
    assert (await client.get("/issues", params={"state": "odd"})).status_code == 422


async def test_what_is_in_no_issue_is_always_told_with_the_background(
    store: Store, client: httpx2.AsyncClient
) -> None:
    keep_outcomes(store, [outcome(100 + n, NOW - 60) for n in range(5)])
    keep(store, [failure(1), failure(2), failure(3, route="/orders")])
    keep(store, [failure(4)], issue())
    listed = await found(client, "/issues", route="/refunds")
    assert listed["not_grouped"] == 2
    assert listed["background"][1] == {
        "family": "generation", "failing": 2, "requests": 5, "rate": pytest.approx(4 / 405),
    }  # fmt: skip
    assert (await found(client, "/issues"))["not_grouped"] == 3
    story = await found(client, "/issues/i1")
    assert story["background"] == listed["background"][1]


async def test_a_story_has_traits_examples_and_what_was_done(
    store: Store, client: httpx2.AsyncClient
) -> None:
    some_issues(store)
    await client.post("/issues/i1/acknowledge", json={"text": "mine"})
    story = await found(client, "/issues/i1")
    assert story["state"] == "acknowledged"
    assert story["assignee"] == "local"
    traits = {(trait["name"], trait["value"]): trait["members"] for trait in story["traits"]}
    assert traits == {("route", "/refunds"): 4, ("service_version", "2.4.0"): 4}
    assert {representative["trace_id"] for representative in story["representatives"]} == {
        f"{n:032x}" for n in range(4)
    }
    assert story["representatives"][0]["by"] == "assigned"
    assert story["representatives"][0]["others"] == [{"issue_id": "i9", "strength": 0.25}]
    assert [(event["verb"], event["actor"]) for event in story["events"]] == [
        ("acknowledge", "local")
    ]
    assert story["root_cause"] is None


async def test_members_are_listed_the_newest_first_and_minute_by_minute(
    store: Store, client: httpx2.AsyncClient
) -> None:
    keep(store, [failure(1, ago=600), failure(2, ago=60)], issue())
    listed = await found(client, "/issues/i1/members")
    assert [member["trace_id"][-1] for member in listed["members"]] == ["2", "1"]
    assert listed["members"][0]["reason"].startswith("the answer names another number")
    before = await found(client, "/issues/i1/members", until="5m")
    assert [member["trace_id"][-1] for member in before["members"]] == ["1"]


async def test_a_record_picked_as_suspicious_counts_for_itself_alone(
    store: Store, client: httpx2.AsyncClient
) -> None:
    picked = {"stream": Stream.SUSPICIOUS, "inclusion_probability": 0.02}
    keep(store, [failure(1, **picked), failure(2)], issue())
    story = await found(client, "/issues/i1")
    assert story["count"] == {"seen": 2, "about": 2, "low": 2, "high": 2, "apart": 1}


async def test_merged_issues_are_one_until_they_are_parted(
    store: Store, client: httpx2.AsyncClient
) -> None:
    some_issues(store)
    reply = await client.post("/issues/i2/merge", json={"other": "i1"})
    assert reply.status_code == 200, reply.text
    kept = reply.json()["issue_id"]
    merged = "i2" if kept == "i1" else "i1"
    assert reply.json()["count"]["seen"] == 26
    assert (await found(client, "/issues"))["found"] == 2
    assert (await found(client, f"/issues/{merged}"))["issue_id"] == kept
    assert len((await found(client, f"/issues/{merged}/members"))["members"]) == 26
    parted = await client.post(f"/issues/{merged}/unmerge", json={})
    assert parted.json()["issue_id"] == merged
    assert (await found(client, "/issues"))["found"] == 3
    assert (await found(client, f"/issues/{merged}"))["issue_id"] == merged


async def test_proposed_pairs_are_told_with_both_names(
    store: Store, client: httpx2.AsyncClient
) -> None:
    some_issues(store)
    pair = IssuePair(
        kept="i1", merged="i2", verdict=PairVerdict.PROPOSED, likeness=0.8, shared=0.5,
        time_unix_nano=NOW * NANOS,
    )  # fmt: skip
    store.write(stored.batch(NOW * NANOS, pairs=[pair]))
    (told,) = (await found(client, "/issue-pairs"))["pairs"]
    assert (told["kept"], told["merged_name"]) == ("i1", "Days mixed up")
    assert (await found(client, "/issues/i2"))["pairs"] == [told]
    await client.post("/issues/i2/unmerge", json={"other": "i1"})
    assert (await found(client, "/issue-pairs"))["pairs"] == []


async def test_verbs_are_done_and_told(store: Store, client: httpx2.AsyncClient) -> None:
    some_issues(store)
    tomorrow = datetime.fromtimestamp(NOW + DAY, UTC).isoformat()
    for verb, body, expected in (
        ("assign", {"name": "bob"}, {"assignee": "bob", "state": "new"}),
        ("rename", {"name": "Wrong days"}, {"name": "Wrong days", "is_name_frozen": True}),
        ("ignore", {"until": tomorrow}, {"state": "ignored", "ignored_members": 0}),
        ("reopen", {}, {"state": "ongoing"}),
        ("ignore", {"count": 10}, {"ignored_until": None, "ignored_members": 14}),
        ("ignore", {"for_ever": True}, {"ignored_until": None, "ignored_members": 0}),
        ("resolve", {"release": "2.4.1"}, {"state": "resolved", "resolved_in": "2.4.1"}),
    ):
        reply = await client.post(f"/issues/i1/{verb}", json=body)
        assert reply.status_code == 200, reply.text
        assert {key: reply.json()[key] for key in expected} == expected
    story = await found(client, "/issues/i1")
    assert len(story["events"]) == 7


async def test_verbs_that_do_not_fit_are_refused_by_name(
    store: Store, client: httpx2.AsyncClient
) -> None:
    some_issues(store)
    yesterday = datetime.fromtimestamp(NOW - DAY, UTC).isoformat()
    for path, body, status in (
        ("i1/ignore", {}, 422),
        ("i1/ignore", {"for_ever": True, "count": 3}, 422),
        ("i1/ignore", {"until": yesterday}, 409),
        ("i1/ignore", {"count": -1}, 422),
        ("i1/rename", {"name": " "}, 422),
        ("i1/merge", {}, 422),
        ("i1/merge", {"other": "i1"}, 409),
        ("i1/merge", {"other": "i3"}, 409),
        ("i1/merge", {"other": "none"}, 404),
        ("i1/reopen", {}, 409),
        ("i1/opened", {}, 422),
        ("i1/resolve", {"nobody": "x"}, 422),
        ("none/resolve", {}, 404),
        ("none/explain", {}, 404),
    ):
        reply = await client.post(f"/issues/{path}", json=body)
        assert reply.status_code == status, (path, reply.text)
    for path in ("/issues/none", "/issues/none/members"):
        assert (await client.get(path)).status_code == 404


async def test_without_a_judge_code_explains_an_issue(
    store: Store, client: httpx2.AsyncClient
) -> None:
    some_issues(store)
    reply = await client.post("/issues/i1/explain", json={})
    assert reply.status_code == 200, reply.text
    assert reply.json()["by"] == "code"
    story = await found(client, "/issues/i1")
    assert story["root_cause"] == reply.json()
    assert story["events"][-1]["verb"] == "explained"


async def test_where_failing_records_are_not_grouped_there_are_no_issues(store: Store) -> None:
    transport = httpx2.ASGITransport(api(store, Quiet(), WebSettings()))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        assert (await client.get("/api/v1/issues")).status_code == 404
