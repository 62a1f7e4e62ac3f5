"""The page of an incident: what got worse, since when, because of what, and both answers."""

from __future__ import annotations

import re
from dataclasses import replace

from ragvigil.model.figures import in_points, score
from ragvigil.store.engine.store import Store
from tests.issues import issue, keep
from tests.triage_store import INVENTED, QUESTIONS, QUOTE, desk
from tests.triage_watch import State
from tests.unit.ragvigil.web.pages.test_now import browsing, form_token, heading, words_of


async def test_it_says_what_since_when_after_which_change_and_what_to_do(store: Store) -> None:
    made = desk(store, State.ALARM)
    name = made.incidents[0].incident_id
    async with browsing(made) as client:
        html = (await client.get(f"/incidents/{name}")).text
    page = words_of(html)
    assert heading(html).startswith("Answers on /refunds/ask cite what stands in no chunk, since ")
    assert heading(html).endswith(", after prompt v3 → v5")
    assert "Do next Put prompt v3 back on /refunds/ask." in page
    assert "/runbook#ragqualityincident" in html
    for title in ("It began", "Change noticed", "Paged", "Audit confirms"):
        assert title in page


async def test_pairs_stand_side_by_side_with_verdicts_and_the_chunks_that_differ(
    store: Store,
) -> None:
    made = desk(store, State.ALARM)
    name = made.incidents[0].incident_id
    async with browsing(made) as client:
        html = (await client.get(f"/incidents/{name}")).text
        all_ = (await client.get(f"/incidents/{name}", params={"pairs": "all"})).text
    pairs = re.findall(r'<article class="pair">(.*?)</article>', html, re.DOTALL)
    assert (len(pairs), len(re.findall('class="pair"', all_))) == (3, 8)
    first = words_of(pairs[0])
    assert any(question in first for question in QUESTIONS)
    assert QUOTE in first
    assert f'<del>"{INVENTED}"' in pairs[0].replace("&#34;", '"')
    assert "Quote not found." in first
    assert "supported Every claim is supported by the chunks" in first
    assert "unsupported No claim is supported by the chunks" in first
    assert 'class="differs"' in all_
    assert "3 of 4 chunks are the same, the others are underlined" in words_of(all_)


async def test_its_numbers_are_those_of_the_api(store: Store) -> None:
    made = desk(store, State.ALARM)
    name = made.incidents[0].incident_id
    async with browsing(made) as client:
        page = words_of((await client.get(f"/incidents/{name}")).text)
        story = (await client.get(f"/api/v1/incidents/{name}")).json()
        audit = (await client.get("/api/v1/audits/a1")).json()["audit"]
    assert " ".join(" ".join(story["message"]).split()) in page
    for result in audit["results"]:
        assert f"{score(result['before'])} {score(result['after'])}" in page
        assert f"judge, {result['n']} pairs" in page
    fell = audit["results"][0]
    assert f"worse by {in_points(fell['change'])}" in page
    assert "The answers got worse, the chunks did not" in page
    for event in story["events"]:
        assert event["text"] in page


async def test_every_act_of_the_api_is_a_form(store: Store) -> None:
    made = desk(store, State.ALARM)
    name = made.incidents[0].incident_id
    async with browsing(made) as client:
        html = (await client.get(f"/incidents/{name}")).text
        token = form_token(html)
        for verb in (
            "acknowledge",
            "snooze",
            "expected",
            "false_page",
            "resolve",
            "assign",
            "note",
        ):
            assert f'/incidents/{name}/{verb}"' in html, verb

        async def post(verb: str, **fields: str) -> int:
            data = {"form_token": token, **fields}
            return (await client.post(f"/incidents/{name}/{verb}", data=data)).status_code

        assert await post("note", text="asking the owner of the prompt") == 303
        assert await post("snooze", **{"for": "4h"}) == 303
        assert await post("assign", name="mara", text="it is her prompt") == 303
        assert await post("snooze", **{"for": "a while"}) == 422
        assert await post("note", text=" ") == 409
        story = (await client.get(f"/api/v1/incidents/{name}")).json()
        assert await post("resolve") == 303
        html = (await client.get(f"/incidents/{name}")).text
    texts = {event["verb"]: event["text"] for event in story["events"]}
    assert texts["note"] == "asking the owner of the prompt"
    assert texts["assign"] == "to mara: it is her prompt"
    assert story["assignee"] == "mara"
    assert story["state"] == "snoozed"
    assert f'/incidents/{name}/acknowledge"' not in html
    assert "page, resolved" in words_of(html)


async def test_an_incident_that_is_not_there_is_said_so(store: Store) -> None:
    made = desk(store, State.QUIET)
    async with browsing(made) as client:
        reply = await client.get("/incidents/none", headers={"accept": "text/html"})
    assert reply.status_code == 404
    assert "there is no incident none" in reply.text


async def test_a_ticket_of_a_meant_change_shows_no_check_that_got_worse(store: Store) -> None:
    made = desk(store, State.EXPECTED)
    name = made.incidents[0].incident_id
    async with browsing(made) as client:
        page = words_of((await client.get(f"/incidents/{name}")).text)
    assert "Something moved, and no check got worse" in page
    assert "from 80 to 112" in page
    assert "One suspect may fit" in page


async def test_it_links_the_issue_that_holds_its_answers(store: Store) -> None:
    made = desk(store, State.ALARM)
    incident = made.incidents[0]
    place = {
        "service": incident.service,
        "environment": incident.environment,
        "routes": incident.findings[0].routes,
        "rubric": incident.findings[0].signal.partition(":")[0],
    }
    other = replace(issue("a" * 16, name="Looks like it"), **place)
    own = replace(issue("b" * 16, name="Its answers"), **place, incident_id=incident.incident_id)
    keep(store, [], other)
    keep(store, [], own)
    async with browsing(made) as client:
        html = (await client.get(f"/incidents/{incident.incident_id}")).text
    assert "Its answers" in html
    assert "Looks like it" not in html
