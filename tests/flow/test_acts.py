"""Every act is a row of the log, once, under the person whose token it is."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from alerts.incidents.job import IncidentJob
from alerts.incidents.settings import IncidentSettings
from ragvigil.app.sources.golden import Golden
from ragvigil.app.sources.incidents import Incidents
from ragvigil.model.score import Layer
from ragvigil.store.engine.erased import Subject
from ragvigil.store.engine.store import Store
from ragvigil.store.erasure.erasures import ErasureState
from ragvigil.web.api.background import BackgroundGroupForm
from ragvigil.web.api.backups import BackupForm
from ragvigil.web.api.erasures import ErasureForm
from ragvigil.web.api.rubrics import (
    AcceptedRubricForm,
    CaughtForm,
    GuardDraftForm,
    RubricPost,
)
from ragvigil.web.pages.addresses import every_route
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api, application
from tests.flow.test_api import NOW, Quiet, keep, outcome
from tests.flow.test_incidents import finding
from tests.golden_sets import job_of, work_tree
from tests.issues import failure, issue
from tests.issues import keep as keep_issues
from tests.served_api import commands
from tests.served_issues import issues

PEOPLE = """
admin a-token-0123456789 ada
approver b-token-0123456789 bob
triager t-token-0123456789 tom
reader r-token-0123456789 rea
ingest i-token-0123456789 pipeline
"""
TRACE = f"{1:032x}"


class Alerts:
    """Raises the test alert."""

    def test_alert(self, until: float) -> None:
        """Is enough."""


class Copies:
    """Begins backups."""

    def begin(self, name: str) -> BackupForm:
        """Is enough."""
        return BackupForm(name=name, state="running", folder=name, problem="", made=None)

    def find(self, name: str) -> None:
        """Nothing is looked for."""


class Erasures:
    """Begins erasures."""

    def begin(self, kind: Subject, _: str) -> ErasureForm:
        """Is enough."""
        return ErasureForm(
            id="e1", kind=kind, state=ErasureState.RUNNING, step="", traces=0, rows={},
            golden_cases=[], is_in_spool=False,
        )  # fmt: skip


class Rubrics:
    """Takes every rubric, and drafts the same guard of every issue."""

    def accepted(self) -> list[AcceptedRubricForm]:
        """One that guards an issue."""
        live = self.accept(RubricPost(text="x"), "bob")
        return [live.model_copy(update={"issue_id": "i1", "sentence": "it is not calm"})]

    def accept(self, post: RubricPost, person: str) -> AcceptedRubricForm:
        """Is enough."""
        return AcceptedRubricForm(
            name="calm", layer=Layer.GENERATION, how="judge", description="", text=post.text,
            issue_id="", sentence="", accepted_by=person, accepted=datetime.now(UTC), is_on=True,
            why_off="",
        )  # fmt: skip

    def remove(self, _: str, person: str) -> AcceptedRubricForm:
        """Is enough."""
        return self.accept(RubricPost(text="x"), person)

    def draft(self, issue_id: str, _: str) -> GuardDraftForm:
        """Is enough."""
        none = CaughtForm(fails=0, answers=0, share=None, low=None, high=None)
        return GuardDraftForm(
            issue_id=issue_id, name="guard_i1", how="pattern", text="x",
            check="it has “as an ai”", usd=0, tokens=0,
            why_no_pattern="", recall=none, neighbours=none, precision=none, week=none,
            week_failing=0,
        )  # fmt: skip


class Background:
    """Has no groups."""

    def groups(self) -> list[BackgroundGroupForm]:
        """Is enough."""
        return []


class Desk:
    """The application with everything that people act on, and a browser of ada's."""

    def __init__(self, store: Store, folder: Path) -> None:
        (folder / "people").write_text(PEOPLE)
        keep(store, [outcome(1, NOW - 60, value=0.2)])
        for name in ("i1", "i2"):
            keep_issues(store, [failure(4)], issue(name))
        incidents = IncidentJob(store, IncidentSettings(), clock=lambda: float(NOW))
        self.incident = incidents.run(NOW, [finding("a")], [])[0].incident_id
        self.app = api(
            store,
            Quiet(),
            WebSettings(tokens_file=folder / "people"),
            alerting=Alerts(),
            watching=Incidents(store, incidents, Quiet()),
            issuing=issues(store, folder),
            keeping=Golden(job_of(store, work_tree(folder / "set"))[0]),
            copying=Copies(),
            erasing=Erasures(),
            accepting=Rubrics(),
            outside=Background(),
            clock=lambda: datetime.now(UTC),
        )
        transport = httpx2.ASGITransport(self.app, raise_app_exceptions=False)
        self.client = httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8088")

    async def post(self, path: str, body: Any, token: str = "a-token-0123456789") -> Any:
        headers = {"authorization": f"Bearer {token}"}
        reply = await self.client.post(f"/api/v1/{path}", json=body, headers=headers)
        assert reply.status_code < 300, (path, reply.text)
        return reply.json()

    async def acts(self, **filters: object) -> list[tuple[str, str, str]]:
        """Person, verb and thing of the acts, the oldest first."""
        headers = {"authorization": "Bearer a-token-0123456789"}
        params = {key: str(value) for key, value in filters.items()}
        reply = await self.client.get("/api/v1/acts", params=params, headers=headers)
        assert reply.status_code == 200, reply.text
        acts = reply.json()["acts"]
        return [(act["person"], act["verb"], act["thing"]) for act in reversed(acts)]


@pytest.fixture
def desk(store: Store, tmp_path: Path) -> Desk:
    return Desk(store, tmp_path)


async def test_every_act_of_the_api_is_one_row(desk: Desk) -> None:
    asked: list[tuple[str, Any]] = [
        (f"incidents/{desk.incident}/acknowledge", {}),
        ("issues/i1/acknowledge", {}),
        ("issues/i1/explain", {}),
        ("alerts/test", {}),
    ]
    for path, body in asked:
        await desk.post(path, body)
    mark = await desk.post("deploys", {"service": "desk"}, "i-token-0123456789")
    label = {"rubric": "groundedness", "trace_id": TRACE, "value": 1}
    (given,) = (await desk.post("labels", [label]))["labels"]
    await desk.post(f"labels/{given['id']}/take-back", {})
    case = (await desk.post("golden", {"trace_id": TRACE}))["case_id"]
    await desk.post(f"golden/{case}/edit", {"expected_facts": [{"fact": "5 to 7 days"}]})
    await desk.post(f"golden/{case}/run", {})
    seen = await desk.client.get(
        f"/api/v1/golden/{case}", headers={"authorization": "Bearer b-token-0123456789"}
    )
    body = {"content_hash": seen.json()["content_hash"], "despite_warnings": True}
    await desk.post(f"golden/{case}/sign", body, "b-token-0123456789")
    imported = {"cases": [{"case_id": "q9", "question": "Why so?", "query_type": "canonical"}]}
    await desk.post("golden-import", imported)
    await desk.post("golden/q9/reject", {})
    scores = {"case_id": "q9", "question": "q9", "values": {"groundedness": 1.0}}
    run = {"run_id": "a" * 12, "ran": NOW, "set_name": "s", "set_hash": "s", "target": "t"}
    await desk.post("evaluations", run | {"cases": [scores]})
    await desk.post(f"evaluations/{'a' * 12}/gate", {"state": "pass"})
    await desk.post("backups", {"name": "weekly"})
    await desk.post("erasures", {"kind": "user", "id": "u1"})
    await desk.post("issues/i1/guard", {})
    await desk.post("issue-background/group", {})
    await desk.post("rubrics", {"text": "x"}, "b-token-0123456789")
    await desk.post("rubrics/calm/remove", {})
    assert await desk.acts() == [
        ("ada", "acknowledge", f"incidents/{desk.incident}"),
        ("ada", "acknowledge", "issues/i1"),
        ("ada", "explain", "issues/i1"),
        ("ada", "test", "alerts"),
        ("pipeline", "mark", f"deploys/{mark['id']}"),
        ("ada", "label", f"traces/{TRACE}"),
        ("ada", "take back", f"traces/{TRACE}"),
        ("ada", "propose", f"golden/{case}"),
        ("ada", "edit", f"golden/{case}"),
        ("ada", "run", f"golden/{case}"),
        ("bob", "sign", f"golden/{case}"),
        ("ada", "propose", "golden/q9"),
        ("ada", "reject", "golden/q9"),
        ("ada", "send", f"evaluations/{'a' * 12}"),
        ("ada", "send", f"evaluations/{'a' * 12}"),
        ("ada", "back up", "backups/weekly"),
        ("ada", "erase", "erasures/e1"),
        ("ada", "draft guard", "issues/i1"),
        ("ada", "group", "issue-background"),
        ("bob", "accept", "rubrics/calm"),
        ("ada", "remove", "rubrics/calm"),
    ]
    known = {
        "/api/v1/incidents/{incident_id}/{verb}", "/api/v1/issues/{issue_id}/{verb}",
        "/api/v1/issues/{issue_id}/explain", "/api/v1/alerts/test", "/api/v1/deploys",
        "/api/v1/labels", "/api/v1/labels/{label_id}/take-back", "/api/v1/golden",
        "/api/v1/golden/{case_id}/edit", "/api/v1/golden/{case_id}/run",
        "/api/v1/golden/{case_id}/sign", "/api/v1/golden-import",
        "/api/v1/golden/{case_id}/reject", "/api/v1/evaluations",
        "/api/v1/evaluations/{run_id}/gate", "/api/v1/backups",
        "/api/v1/erasures", "/api/v1/rubrics", "/api/v1/rubrics/{name}/remove",
        "/api/v1/issues/{issue_id}/guard", "/api/v1/issue-background/group",
        "/api/v1/feedback",  # users give it, by a service
    }  # fmt: skip
    routes = every_route(application(None, None, WebSettings()))  # type: ignore[arg-type]
    posted = {route.path for route in routes if "POST" in route.methods}
    assert {path for path in posted if path.startswith("/api/")} == known


async def test_an_act_of_a_page_is_one_row_and_says_so(desk: Desk) -> None:
    page = await desk.client.get("/sign-in")
    form = {"form_token": form_token(page.text), "token": "a-token-0123456789"}
    assert (await desk.client.post("/sign-in", data=form)).status_code == 303
    page = await desk.client.get("/issues/i1", headers={"accept": "text/html"})
    assert page.status_code == 200, page.text
    fields = {"form_token": form_token(page.text), "text": "mine"}
    reply = await desk.client.post("/issues/i1/acknowledge", data=fields)
    assert reply.status_code == 303, reply.text
    acts = (await desk.client.get("/api/v1/acts")).json()["acts"]
    assert [(act["verb"], act["role"], act["place"]) for act in acts] == [
        ("acknowledge", "admin", "page"),
        ("sign in", "admin", "page"),
    ]


async def test_a_guard_is_drafted_accepted_and_taken_out_on_the_page(desk: Desk) -> None:
    page = await desk.client.get("/sign-in")
    form = {"form_token": form_token(page.text), "token": "a-token-0123456789"}
    assert (await desk.client.post("/sign-in", data=form)).status_code == 303
    page = await desk.client.get("/issues/i1", headers={"accept": "text/html"})
    assert 'action="/issues/i1/guard"' in page.text
    token = {"form_token": form_token(page.text)}
    assert (await desk.client.post("/issues/i1/guard", data={"how": "any"})).status_code == 403
    wrong = await desk.client.post("/issues/i1/guard", data=token | {"how": "magic"})
    assert (wrong.status_code, "any, pattern or judge" in wrong.text) == (422, True)
    drafted = await desk.client.post("/issues/i1/guard", data=token | {"how": "pattern"})
    assert drafted.status_code == 200, drafted.text
    assert "Accept guard_i1" in drafted.text
    fields = dict(re.findall(r'type="hidden" name="(text|sentence)" value="([^"]*)"', drafted.text))
    assert fields == {"text": "x", "sentence": "it has “as an ai”"}
    empty = await desk.client.post("/issues/i1/guard/accept", data=token)
    assert empty.status_code == 422
    for act, more in (("accept", fields), ("remove", {"name": "calm"})):
        reply = await desk.client.post(f"/issues/i1/guard/{act}", data=token | more)
        assert (reply.status_code, reply.headers["location"][:16]) == (303, "/issues/i1?done=")
    acts = (await desk.client.get("/api/v1/acts")).json()["acts"]
    assert [(act["verb"], act["thing"], act["place"]) for act in acts[:3]] == [
        ("remove", "rubrics/calm", "page"),
        ("accept", "rubrics/calm", "page"),
        ("draft guard", "issues/i1", "page"),
    ]


async def test_the_page_of_an_issue_lists_its_guards_and_offers_what_the_reader_may_do(
    desk: Desk,
) -> None:
    offers, found = ("Take calm out", "Draft a guard"), []
    for role in "btr":
        headers = {"authorization": f"Bearer {role}-token-0123456789", "accept": "text/html"}
        reply = await desk.client.get("/issues/i1", headers=headers)
        assert "<code>calm</code>: it is not calm." in reply.text
        found.append([offer in reply.text for offer in offers])
    assert found == [[True, True], [False, True], [False, False]]


async def test_what_was_refused_is_no_act(desk: Desk) -> None:
    headers = {"authorization": "Bearer a-token-0123456789"}
    for path in ("issues/none/resolve", "issues/i1/reopen", "golden/none/run"):
        reply = await desk.client.post(f"/api/v1/{path}", json={}, headers=headers)
        assert reply.status_code in (404, 409)
    assert await desk.acts() == []


async def test_the_log_is_read_by_person_verb_and_thing_and_page_by_page(desk: Desk) -> None:
    for verb in ("acknowledge", "resolve", "reopen"):
        await desk.post(f"issues/i1/{verb}", {})
    await desk.post("issues/i2/acknowledge", {}, "b-token-0123456789")
    assert len(await desk.acts(person="bob")) == 1
    assert len(await desk.acts(verb="resolve")) == 1
    assert len(await desk.acts(thing="issues/i1")) == 3
    assert await desk.acts(since="2199-01-01") == []
    headers, found, cursor = {"authorization": "Bearer a-token-0123456789"}, [], ""
    while cursor is not None:
        params = {"limit": "1"} | ({"cursor": cursor} if cursor else {})
        reply = (await desk.client.get("/api/v1/acts", params=params, headers=headers)).json()
        found += [(act["person"], act["verb"], act["thing"]) for act in reply["acts"]]
        cursor = reply["next"]
    assert found == list(reversed(await desk.acts()))
    wrong = await desk.client.get("/api/v1/acts", params={"cursor": "x"}, headers=headers)
    assert wrong.status_code == 422


def test_the_command_line_shows_the_log(desk: Desk, tmp_path: Path) -> None:
    with commands(desk.app, tmp_path, more='[client]\ntoken = "b-token-0123456789"') as daemon:
        assert "nobody has done anything" in daemon.say("acts")
        daemon.say("issues", "ack", "i2")
        line = daemon.say("acts").splitlines()[-1].split()
    assert line[2:] == ["bob", "approver", "acknowledge", "issues/i2", "api"]


def form_token(text: str) -> str:
    found = re.search(r'name="form_token" value="([^"]+)"', text)
    assert found
    return found[1]
