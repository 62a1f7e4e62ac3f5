"""The pages of issues over a real store: what they show, and every act of theirs."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.types import ASGIApp

from ragvigil.model import figures
from ragvigil.model.issue import (
    Issue,
    IssuePair,
    IssueState,
    PairVerdict,
    Quote,
    RootCause,
)
from ragvigil.model.record import Dimensions
from ragvigil.model.score import Layer
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import issues as stored
from ragvigil.store.issues import root_causes
from ragvigil.web.views.issue_pages import sentences
from ragvigil.web.views.issues import CountForm
from tests.flow.test_api import keep as keep_outcomes
from tests.flow.test_api import outcome
from tests.issues import DAY, NANOS, NOW, failure, issue, keep
from tests.page_readers import BASE, PEOPLE, Reader, tokens_file
from tests.served_api import commands
from tests.served_issues import served

HOUR = 3600
MOST_BYTES = 60_000
"""Compressed; the page of 50 issues is the largest here."""
INVENTED: dict[str, Any] = {
    "rubric": "citation_validity",
    "label": "quote_not_found",
    "name": "citation_validity: quote not found (/refunds)",
    "family": Layer.CROSS_CUTTING,
    "first_unix_nano": (NOW - 2 * HOUR) * NANOS,
}


@pytest.fixture
def app(store: Store, tmp_path: Path) -> ASGIApp:
    return served(store, tmp_path, tokens_file=tokens_file(tmp_path))


@pytest.fixture
def tess(app: ASGIApp) -> Reader:
    return Reader(app, "tess")


async def told(app: ASGIApp, path: str) -> Any:
    """What the API answers."""
    headers = {"authorization": f"Bearer {PEOPLE['rita'][1]}"}
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=BASE) as client:
        reply = await client.get(f"/api/v1/{path}", headers=headers)
    assert reply.status_code == 200, reply.text
    return reply.json()


def some_issues(store: Store) -> None:
    """Four invented quotations of today, 22 sampled answers, one answer of another service."""
    invented = {
        "rubric": "citation_validity",
        "label": "quote_not_found",
        "family": Layer.CROSS_CUTTING,
    }
    keep(
        store,
        [failure(n, ago=60 + n, **invented) for n in range(4)],
        issue("a1", members=4, **INVENTED),
    )
    sampled = [failure(10 + n, ago=600 + n, inclusion_probability=0.07) for n in range(22)]
    family = Layer.CROSS_CUTTING  # that of the first issue, so that they can be merged
    mixed = issue("b2", members=22, state=IssueState.REGRESSED, name="Days mixed up", family=family)
    keep(store, sampled, mixed)
    other: dict[str, Any] = {"service": "shop", "route": "/cart", "family": Layer.RETRIEVAL}
    one = issue(
        "c3", members=1, routes=("/cart",), service="shop", family=Layer.RETRIEVAL,
        rubric="retrieval_shape", label="empty", name="retrieval_shape: empty (/cart)",
    )  # fmt: skip
    keep(store, [failure(50, **other)], one)


def titles(page: str) -> list[str]:
    return re.findall(r'<tr data-row id="issue-([^"]+)"', page)


def heading(page: str) -> str:
    return " ".join(re.findall(r"<h1>(.*?)</h1>", page, re.S)[0].split())


async def test_the_issue_that_harms_most_answers_stands_first(store: Store, tess: Reader) -> None:
    some_issues(store)
    page = await tess.page("/issues")
    assert titles(page) == ["b2", "a1", "c3"]
    assert heading(page) == "Fix first: answers on /refunds fail for one reason: Days mixed up"
    assert "Answers quote words that stand in no chunk" in page
    assert "citation_validity: quote not found (/refunds), provisional" in page
    assert "between 200 and 470" in page
    assert "Not grouped: 0 answers" in page


async def test_nine_of_a_small_sample_stand_behind_fifty_that_were_seen(
    store: Store, tess: Reader
) -> None:
    since = (NOW - 2 * HOUR) * NANOS
    sampled = [failure(10 + n, ago=600 + n, inclusion_probability=0.1) for n in range(9)]
    keep(store, sampled, issue("few", members=9, first_unix_nano=since))
    seen = [failure(100 + n, ago=60 + n) for n in range(54)]
    keep(store, seen, issue("seen", members=54, first_unix_nano=since))
    page = await tess.page("/issues")
    assert titles(page) == ["seen", "few"]
    assert "about 90" in page


async def test_the_scope_and_filters_choose_and_what_they_hide_is_counted(
    store: Store, tess: Reader
) -> None:
    some_issues(store)
    old = issue("d4", last_unix_nano=(NOW - 3 * DAY) * NANOS, assignee="ada")
    keep(store, [failure(70, ago=3 * DAY)], old)
    assert titles(await tess.page("/issues?state=regressed")) == ["b2"]
    assert titles(await tess.page("/issues?family=retrieval")) == ["c3"]
    assert titles(await tess.page("/issues?service=shop")) == ["c3"]
    assert titles(await tess.page("/issues?route=/refunds")) == ["b2", "a1"]
    assert titles(await tess.page("/issues?q=MIXED")) == ["b2"]
    assert titles(await tess.page("/issues?owner=ada&since=7d")) == ["d4"]
    assert "d4" not in titles(await tess.page("/issues?owner=nobody&since=7d"))
    assert "1 more issue was not seen in this time" in await tess.page("/issues")
    chosen = await tess.page("/issues?state=regressed&owner=nobody")
    assert 'href="/issues?since=7d&state=regressed&owner=nobody"' in chosen
    none = await tess.page("/issues?q=unheard")
    assert heading(none) == "No issue is as you asked"
    assert (await tess.get("/issues?state=odd")).status_code == 422
    assert (await tess.get("/issues?cursor=a1&state=regressed")).status_code == 422


async def test_five_hundred_issues_are_paged_and_light(store: Store, app: ASGIApp) -> None:
    many = [issue(f"i{n:03d}", members=1, last_unix_nano=(NOW - n) * NANOS) for n in range(500)]
    store.write(stored.batch(time.time_ns(), issues=many))
    reader = Reader(app, "tess")
    page, seen = await reader.page("/issues"), []
    for _ in range(10):
        seen += titles(page)
        link = re.search(r'href="([^"]+)" rel="next"', page)
        page = await reader.page(link[1]) if link else ""
    assert sorted(seen) == sorted(each.issue_id for each in many)
    reply = await reader.get("/issues")
    assert int(reply.headers["content-length"]) < MOST_BYTES


async def test_a_list_without_issues_says_what_makes_one(app: ASGIApp) -> None:
    page = await Reader(app, "rita").page("/issues")
    assert heading(page) == sentences.NOT_YET
    assert "Three failing answers of one kind" in page
    assert "No answer came in seven days." in page


def explained(store: Store, **fields: Any) -> None:
    """A report of a model on the issue a1."""
    known: dict[str, Any] = {
        "issue_id": "a1", "time_unix_nano": NOW * NANOS, "by": "openai:m", "ended": "submitted",
        "cause": "Prompt v5 asks for a rule in every answer.", "fix": "Put prompt v3 back.",
        "quotes": (Quote(text="Begin with our rules", trace_id="0" * 32, span_id="f" * 16),),
        "grades": (("severity", 4, "promises money"), ("effort", 1, "one line")),
        "turns": 7, "cost_usd": 0.12,
    }  # fmt: skip
    store.write(root_causes.batch(RootCause(**known | fields), NOW * NANOS))


def answered(
    store: Store, number: int, question: str, *, ago: int, prompt: str, value: float
) -> None:
    made = outcome(number, NOW - ago, value=value)
    (scored,) = made.records
    record = replace(scored.record, query=question, dimensions=Dimensions(prompt_version=prompt))
    keep_outcomes(store, [replace(made, records=(replace(scored, record=record),))])


async def test_an_issue_says_why_and_shows_each_answer_beside_one_that_passes(
    store: Store, tess: Reader
) -> None:
    some_issues(store)
    explained(store)
    answered(store, 3, "How long do refunds take?", ago=63, prompt="v5", value=0.0)
    answered(store, 90, "How long do refunds take?", ago=5 * HOUR, prompt="v3", value=1.0)
    page = await tess.page("/issues/a1")
    assert heading(page) == "Answers on /refunds quote words that stand in no chunk"
    assert "Prompt v5 asks for a rule in every answer." in page
    assert f'/traces/{"0" * 32}?span={"f" * 16}"' in page
    assert "stands in the span, checked" in page
    assert "Put prompt v3 back." in page
    assert "7 turns" in page
    assert "0.12 US$" in page
    assert "the same question, prompt v3, from before the first failure" in page
    assert "Four answers that show it, beside ones that pass" in page
    assert "All 4 answers" in page
    assert f"/answers/{3:016x}" in page
    assert f"/answers/{90:016x}" in page


async def test_without_a_report_the_page_hints_and_offers_one(store: Store, tess: Reader) -> None:
    some_issues(store)
    page = await tess.page("/issues/a1")
    assert "Nobody knows yet." in page
    assert "Explain now" in page
    assert "No judge is configured" in page
    assert "stands in the span, checked" not in page
    assert "No answer to a like question on /refunds passes" in page
    explained(store, cause="", quotes=(), grades=(), fix="", ended="the model found no cause")
    page = await tess.page("/issues/a1")
    assert "not determined" in page
    assert "the model found no cause" in page


async def test_members_are_paged_with_links(store: Store, tess: Reader) -> None:
    keep(store, [failure(n, ago=60) for n in range(120)], issue("a1", members=120, **INVENTED))
    page, seen = await tess.page("/issues/a1/members"), []
    for _ in range(3):
        seen += re.findall(r'href="/answers/(\w+)', page)
        link = re.search(r'href="([^"]+)" rel="next"', page)
        page = await tess.page(link[1]) if link else ""
    assert sorted(seen) == sorted(f"{n:016x}" for n in range(120))
    assert (await tess.get("/issues/a1/members?cursor=1")).status_code == 422


@pytest.mark.parametrize(
    ("verb", "fields", "expected"),
    [
        ("acknowledge", {"text": "mine"}, {"state": "acknowledged", "assignee": "tess"}),
        ("assign", {"name": "ada"}, {"assignee": "ada", "state": "new"}),
        ("resolve", {}, {"state": "resolved", "resolved_in": ""}),
        ("resolve", {"release": " 1.5.0 "}, {"state": "resolved", "resolved_in": "1.5.0"}),
        ("ignore", {"end": "7d"}, {"state": "ignored", "ignored_members": 0}),
        ("ignore", {"end": "count", "count": "10"}, {"state": "ignored", "ignored_members": 14}),
        ("ignore", {"end": "ever"}, {"state": "ignored", "ignored_until": None}),
        ("rename", {"name": "Invents rules"}, {"name": "Invents rules", "is_name_frozen": True}),
        ("merge", {"other": "b2"}, {"issue_id": "a1"}),
    ],
)
async def test_every_verb_is_a_form(
    store: Store,
    app: ASGIApp,
    tess: Reader,
    verb: str,
    fields: dict[str, str],
    expected: Mapping[str, object],
) -> None:
    some_issues(store)
    reply = await tess.send(f"/issues/a1/{verb}", fields, of_page="/issues/a1")
    assert reply.status_code == 303, reply.text
    assert reply.headers["location"] == f"/issues/a1?done={verb}"
    story = await told(app, "issues/a1")
    assert {name: story[name] for name in expected} == dict(expected)
    done = [event for event in story["events"] if event["verb"] == verb]
    assert [event["actor"] for event in done] == ["tess"]
    assert 'role="status"' in await tess.page(reply.headers["location"])


async def test_a_merge_can_be_undone_and_a_pair_kept_apart(store: Store, tess: Reader) -> None:
    some_issues(store)
    pair = IssuePair(kept="a1", merged="b2", verdict=PairVerdict.PROPOSED, likeness=0.8, shared=0.7,
                     time_unix_nano=NOW * NANOS)  # fmt: skip
    store.write(stored.batch((NOW - 60) * NANOS, pairs=[pair]))
    assert "80 % alike" in await tess.page("/issues")
    assert "80 % alike" in await tess.page("/issues/a1")
    apart = {"other": "b2", "from": "list"}
    reply = await tess.send("/issues/a1/unmerge", apart, of_page="/issues")
    assert reply.headers["location"] == "/issues?done=apart"
    kept = {"from": "list", "state": "new", "q": "a"}
    reply = await tess.send("/issues/a1/acknowledge", kept, of_page="/issues")
    assert reply.headers["location"] == "/issues?done=acknowledge&state=new&q=a"
    assert "80 % alike" not in await tess.page("/issues")
    await tess.send("/issues/a1/merge", {"other": "b2"}, of_page="/issues/a1")
    page = await tess.page("/issues/b2")
    merged = "a1" if "a1</code> was merged into it" in page else "b2"
    reply = await tess.send(f"/issues/{merged}/unmerge", {}, of_page="/issues/a1")
    assert reply.status_code == 303, reply.text
    assert set(titles(await tess.page("/issues"))) == {"a1", "b2", "c3"}


@pytest.mark.parametrize(
    ("verb", "fields", "status", "said"),
    [
        ("reopen", {}, 409, "it is open already"),
        ("rename", {"name": "  "}, 422, "rename needs a name"),
        ("rename", {"name": "x" * 10_000}, 422, "name: "),
        ("ignore", {}, 422, "ignore needs until or count"),
        ("ignore", {"end": "count", "count": "many"}, 422, "say after how many more answers"),
        ("ignore", {"end": "count", "count": "9" * 30}, 422, "count: "),
        ("merge", {"other": ""}, 422, "merge needs the other issue"),
        ("merge", {"other": "unheard"}, 404, "there is no issue unheard"),
        ("unmerge", {}, 404, "there is no issue"),
    ],
)
async def test_what_is_refused_is_said_on_the_page(
    store: Store,
    app: ASGIApp,
    tess: Reader,
    verb: str,
    fields: dict[str, str],
    status: int,
    said: str,
) -> None:
    some_issues(store)
    before = await told(app, "issues/a1")
    reply = await tess.send(f"/issues/a1/{verb}", fields, of_page="/issues/a1")
    assert reply.status_code == status
    assert "Not done: " in reply.text
    assert 'href="/issues/a1?since=7d"' in reply.text
    assert escape(said) in reply.text
    assert (await told(app, "issues/a1"))["events"] == before["events"]


async def test_a_reader_sees_no_act_and_a_form_without_token_changes_nothing(
    store: Store, app: ASGIApp
) -> None:
    some_issues(store)
    for path in ("/issues", "/issues/a1"):
        assert "/acknowledge" not in await Reader(app, "rita").page(path)
    token = PEOPLE["tess"][1]
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=BASE) as client:
        reply = await client.post(
            "/issues/a1/resolve", data={"release": ""}, headers={"authorization": f"Bearer {token}"}
        )
    assert reply.status_code == 403
    assert (await told(app, "issues/a1"))["state"] == "new"
    assert (await Reader(app, "tess").get("/issues/unheard")).status_code == 404


async def test_explaining_begins_and_the_page_comes_back_at_once(
    store: Store, tess: Reader
) -> None:
    some_issues(store)
    reply = await tess.send("/issues/a1/explain", {}, of_page="/issues/a1")
    assert reply.headers["location"] == "/issues/a1?done=explain"
    deadline = time.monotonic() + 120
    while not root_causes.find(store, "a1") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert "Explain again" in await tess.page("/issues/a1")


HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)>\u202egnp\u0000\x1b[31m" + "x" * 10_000
)


async def test_a_strangers_text_is_text(store: Store, tess: Reader) -> None:
    hostile: Issue = issue(
        "a1", **INVENTED | {"name": HOSTILE, "routes": (HOSTILE,), "service": HOSTILE}
    )
    keep(store, [failure(1, route=HOSTILE, reason=HOSTILE, question=HOSTILE, service=HOSTILE,
                         service_version=HOSTILE, prompt_version=HOSTILE)], hostile)  # fmt: skip
    explained(store, cause=HOSTILE, fix=HOSTILE, text=HOSTILE, ended=HOSTILE,
              grades=(("severity", 3, HOSTILE),))  # fmt: skip
    for path in ("/issues", "/issues/a1", "/issues/a1/members"):
        reply = await tess.get(path)
        assert reply.status_code == 200
        assert "<script>alert" not in reply.text
        assert "<img" not in reply.text
        assert "\u202e" not in reply.text


async def test_numbers_are_those_of_the_api_and_the_command_line(
    store: Store, app: ASGIApp, tess: Reader, tmp_path: Path
) -> None:
    some_issues(store)
    page = await tess.page("/issues")
    listed = await told(app, "issues?since=24h")
    assert titles(page) == [row["issue_id"] for row in listed["issues"]]
    for row in listed["issues"]:
        assert f">{figures.about(row['harmed_per_day'])}</td>" in page
        assert sentences.amount(CountForm.model_validate(row["count"])).number in page
    folder = tmp_path / "cli"
    folder.mkdir()
    with commands(served(store, folder), folder) as daemon:
        lines = daemon.say("issues", "list").splitlines()
    shown = [line.split()[0] for line in lines if line[:2] in ("a1", "b2", "c3")]
    assert shown == titles(page)
    for row in listed["issues"]:
        harm = f"about {figures.about(row['harmed_per_day'])} answers a day"
        assert any(harm in line for line in lines), harm
