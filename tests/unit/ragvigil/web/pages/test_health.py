"""Health says whether the numbers can be trusted, with the API's numbers and without secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import BaseModel, SecretStr

from alerts.limits.settings import OwnLimit, Reach
from alerts.limits.trial import Crossing, Trial
from ragvigil.app.process.jobs import Job, Schedule
from ragvigil.app.settings import Settings, known_keys, load, variable
from ragvigil.app.settings.in_force import MASKED, Origin, origins, plain
from ragvigil.app.sources.health import Health
from ragvigil.model.record import Absent
from ragvigil.store.engine.store import Store
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from ragvigil.web.views.doctor import DiagnosisForm, DoctorForm, GapForm, SpanSourceForm
from ragvigil.web.views.health.checks import checks, heading, table_sentence
from ragvigil.web.views.health.coverage import coverage
from ragvigil.web.views.health.daemon_checks import difference
from ragvigil.web.views.health.kinds import Evidence, Verdict
from ragvigil.web.views.health.report import CanaryForm, HealthReportForm, JobForm, JudgeCostForm
from ragvigil.web.views.judges import JudgeForm
from ragvigil.web.views.ledger import SpanLedger
from tests.flow.test_api import NOW, Quiet, client

SECRET = "never-to-be-seen-4711"
ADMIN, READER = "a" * 32, "r" * 32
WORKS: Mapping[str, Any] = {
    "daemon": {"behind": ""},
    "judge": {
        "on": True, "model": "openai:m", "state": "answers", "calls": 40, "waiting": 0,
        "spent_today": "1.12 of 5.00 US$, 4,000 tokens", "failures_by_kind": [],
    },
    "disk": {"free_bytes": 50 * 10**9, "reserve_bytes": 10**9, "refuses_spans": False},
    "spool": {"bytes": 10**6},
    "store": {"is_ready": True, "trouble": "", "stopped": "", "parts_set_aside": {}},
    "plugins": {"left_out": []},
}  # fmt: skip
COST = JudgeCostForm(model="", answers=400, judged=40, calls=280, tokens=1e6, dollars=None)


def books(**changed: int) -> SpanLedger:
    usual = {"acknowledged": 10, "stored": 8, "duplicate": 1, "quarantined": 0, "lost": 0}
    return SpanLedger(**{**usual, "in_spool": 1, **changed})


def source(**changed: object) -> SpanSourceForm:
    usual: dict[str, Any] = {
        "service": "desk", "spans": 60, "scopes": {}, "kinds": [], "answers": 10, "part_of": [],
        "missing": "", "fix": "",
    }  # fmt: skip
    return SpanSourceForm(**usual | changed)


def diagnosis(**present: float | None) -> DiagnosisForm:
    return DiagnosisForm(
        service="desk", instrumentor="i", scope="s", records=10, present=present, findings=[]
    )


def judge(**changed: object) -> JudgeForm:
    usual: dict[str, Any] = {
        "rubric": "completeness", "judge": "m", "version": "1", "segment": "s", "labels": 200,
        "scale": "pass_fail", "kappa": 0.8, "low": 0.7, "high": 0.9, "agreement": 0.9,
        "disagreements": 3, "quotes": 0, "quotes_not_found": 0, "missing": 0,
        "state": "trusted", "reason": "", "level": None,
    }  # fmt: skip
    return JudgeForm(**usual | changed)


def report(**changed: object) -> HealthReportForm:
    usual: dict[str, Any] = {
        "version": "1", "replica": "", "started": datetime(2026, 3, 1, tzinfo=UTC), "jobs": [],
        "warnings": [], "set_aside": [], "refused": [], "canary": None, "cost": COST,
    }  # fmt: skip
    return HealthReportForm(**usual | changed)


def evidence(status: Mapping[str, Any] | None = None, **changed: Any) -> Evidence:
    usual: dict[str, Any] = {
        "ledger": books(),
        "doctor": DoctorForm(services=[diagnosis(query=1.0)], sources=[source()]),
        "judges": [judge()],
        "report": report(),
    }
    return Evidence(status={**WORKS, **(status or {})}, **usual | changed)


def test_all_that_works_is_said_in_one_sentence() -> None:
    found = checks(evidence())
    assert heading(found) == "You can trust what you see."
    assert {check.verdict for check in found} == {Verdict.HOLDS}
    assert table_sentence(found).startswith("All ")


@pytest.mark.parametrize(
    ("name", "changed", "verdict", "words"),
    [
        ("Books", {"ledger": books(stored=5)}, Verdict.BROKEN, "3 spans are nowhere"),
        ("Books", {"ledger": books(stored=9)}, Verdict.BROKEN, "1 span were counted twice"),
        ("Books", {"ledger": books(stored=6, lost=2)}, Verdict.WORSE, "2 spans of 10 were lost"),
        ("Books", {"ledger": books(stored=7, quarantined=1)}, Verdict.WORSE, "refused 1 span"),
        ("Delay", {"status": {"daemon": {"behind": "900 spans wait"}}}, Verdict.WORSE, "900"),
        ("Disk", {"status": {"disk": {**WORKS["disk"], "refuses_spans": True}}}, Verdict.BROKEN,
         "refused"),
        ("Store", {"status": {"store": {**WORKS["store"], "stopped": "1 % refused"}}},
         Verdict.BROKEN, "1 % refused"),
        ("Store", {"status": {"store": {**WORKS["store"], "parts_set_aside": {"scores": 2}}}},
         Verdict.WORSE, "scores (2)"),
        ("Judge", {"status": {"judge": {**WORKS["judge"], "state": "fails", "way_out": "a new key",
         "last_error": "wrong_key"}}}, Verdict.BROKEN, "wrong_key"),
        ("Judge", {"status": {"judge": {**WORKS["judge"], "failures_by_kind": ["timeout"]}}},
         Verdict.HOLDS, "40 questions since the start, some failed: timeout; waiting: 0"),
        ("Judge", {"status": {"judge": {**WORKS["judge"], "calls": 0}}}, Verdict.HOLDS,
         "No question since the start; waiting: 0 answers."),
        ("Judge", {"status": {"judge": {"on": False, "reason": "no judge is configured"}}},
         Verdict.MISSING, "280 questions"),
        ("Judge's budget", {"status": {"judge": {**WORKS["judge"], "thinning_by_budget": 0.4}}},
         Verdict.WORSE, "40 %"),
        ("Judge's pace", {"status": {"judge": {**WORKS["judge"], "thinning_by_pace": 0.4}}},
         Verdict.WORSE, "only 40 %"),
        ("Judge of completeness", {"judges": [judge(state="retired", reason="kappa 0.52")]},
         Verdict.MUTED, "kappa 0.52"),
        ("Judge and people", {"judges": [judge(state="unmeasured", missing=22)]}, Verdict.MISSING,
         "completeness"),
        ("Fixed check of the judge", {"report": report(canary=CanaryForm(
            time=datetime(2026, 3, 1, tzinfo=UTC), records=40, rubrics=2, moved=["fell"]))},
         Verdict.WORSE, "fell"),
        ("Jobs", {"report": report(jobs=[JobForm(name="roll_ups", every_seconds=2, runs=1,
            failures=1, last=None, seconds=None, has_failed=True)])}, Verdict.WORSE, "roll ups"),
    ],
)  # fmt: skip
def test_each_fault_is_named_with_its_numbers(
    name: str, changed: dict[str, Any], verdict: Verdict, words: str
) -> None:
    found = checks(evidence(**changed))
    mine = [check for check in found if check.name == name]
    assert [check.verdict for check in mine] == [verdict]
    assert words in mine[0].words
    assert found[0].verdict is verdict
    if verdict is Verdict.BROKEN:
        assert heading(found).startswith(f"Do not rely on what you see: {name.lower()}")


def test_a_muted_rubric_leaves_the_rest_to_be_trusted() -> None:
    found = checks(evidence(judges=[judge(state="retired", reason="kappa 0.52")]))
    assert heading(found) == "You can trust what you see. One rubric is muted."


def test_without_a_span_there_is_nothing_to_trust_and_the_line_to_set_is_shown() -> None:
    empty = evidence({"listens": {"http": "127.0.0.1:4999"}},
                     doctor=DoctorForm(services=[], sources=[]))  # fmt: skip
    found = checks(empty)
    assert heading(found).startswith("There is nothing to trust yet")
    fixes = [check.fix for check in found if check.name == "Intake"]
    assert fixes == ["export OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4999"]


def test_a_missing_field_names_the_rubrics_that_it_switches_off_and_the_line_that_mends_it() -> (
    None
):
    gap = GapForm(
        field="document_ids", reason=Absent.NOT_SENT, records=10, share=1.0,
        instrumentor="i", scope="s", rubrics_off=["context_recall"],
        fix="set the id of each document",
    )  # fmt: skip
    lacking = diagnosis(query=1.0, document_ids=0.0, reranked=None)
    lacking = lacking.model_copy(update={"findings": [gap]})
    found = checks(evidence(doctor=DoctorForm(services=[lacking], sources=[source()])))
    (mine,) = [check for check in found if check.name == "Fields of desk"]
    assert (mine.verdict, mine.fix) == (Verdict.MISSING, "set the id of each document")
    assert mine.words == "Without document ids, nothing scores context recall."
    (each,) = coverage(DoctorForm(services=[lacking], sources=[]))
    assert each.sentence == "desk sends one of two fields in full"
    assert each.fields == (("question", "100 %", True), ("document ids", "0 %", False))


def test_the_books_have_one_difference() -> None:
    assert difference(books()) == 0
    assert difference(books(stored=5)) == 3


def secret_paths(model: type[BaseModel] = Settings) -> list[tuple[str, ...]]:
    paths = []
    for path in known_keys(model):
        field: Any = model
        for step in path[:-1]:
            field = field.model_fields[step].annotation
        if "SecretStr" in str(field.model_fields[path[-1]].annotation):
            paths.append(path)
    return paths


def planted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings with a secret in every field that may hold one, and in the URLs."""
    monkeypatch.chdir(folder)
    for number, path in enumerate(secret_paths()):
        monkeypatch.setenv(variable(path), f"{SECRET}-{number:032}")
    url = f"http://user:{SECRET}@127.0.0.1:1/v1?api_key={SECRET}"
    monkeypatch.setenv("RAGVIGIL_JUDGE__BASE_URL", url)
    monkeypatch.setenv("RAGVIGIL_STORE__URL", url)
    (folder / "ragvigil.toml").write_text('[web]\nexternal_url = "http://vigil.example"\n')
    return load()


def served(store: Store, source: Health, web: WebSettings) -> httpx2.AsyncClient:
    app = api(
        store, Quiet(), web, diagnosing=source, clock=lambda: datetime.fromtimestamp(NOW, UTC)
    )
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8088")


async def test_no_secret_of_the_settings_is_ever_shown(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(secret_paths()) > 8
    settings = planted(tmp_path, monkeypatch)
    source = Health(settings, store, list, {}, lambda: NOW)
    web = WebSettings(admin_token=SecretStr(ADMIN), reader_token=SecretStr(READER))
    browser = served(store, source, web)
    admin, reader = ({"authorization": f"Bearer {token}"} for token in (ADMIN, READER))
    for path in ("/health", "/api/v1/settings", "/api/v1/health-report"):
        reply = await browser.get(path, headers=admin)
        assert reply.status_code == 200
        assert SECRET not in reply.text
        assert SECRET not in unescape(reply.text)
    told = (await browser.get("/api/v1/settings", headers=admin)).json()
    values = {each["key"]: (each["value"], each["origin"]) for each in told["settings"]}
    assert values["web.admin_token"] == (MASKED, "environment")
    assert values["web.external_url"] == ("http://vigil.example", "file")
    assert values["store.threads"][1] == "default"
    assert {key: str(value) for key, value in plain(settings).items()} == {
        key: value for key, (value, _) in values.items()
    }
    assert (await browser.get("/api/v1/settings", headers=reader)).status_code == 403
    page = await browser.get("/health", headers=reader)
    assert page.status_code == 200
    assert "store.threads" not in page.text
    assert (await browser.get("/health")).status_code in (401, 303)


async def test_a_limit_of_ones_own_says_how_often_it_would_have_told(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = OwnLimit(signal="refusal:refused", above=0.3, reaches=Reach.PAGE, route="*")
    crossings = [Crossing(at=NOW - day * 86_400, place=("desk", "", "*")) for day in (9, 2)]
    trial = Trial(limit=limit, at=NOW - 300, days=30, crossings=tuple(crossings))
    settings = planted(tmp_path, monkeypatch)
    for trials, heading_words in (
        ((), "No limit of your own is set"),
        ((trial,), "One limit of your own, tried on the past"),
    ):
        source = Health(settings, store, list, {}, lambda: NOW, lambda trials=trials: trials)
        browser = served(store, source, WebSettings())
        report_ = (await browser.get("/api/v1/health-report")).json()
        assert len(report_["limits"]) == len(trials)
        html = (await browser.get("/health")).text
        page = unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)))
        assert heading_words in page
    (told,) = report_["limits"]
    assert told["words"] == "would have paged 2 times in 30 days"
    assert [each["route"] for each in told["crossings"]] == ["*", "*"]
    assert "Refusal: refused over 30 %" in page
    assert "Would have paged 2 times in 30 days" in page


def test_the_origin_of_a_setting_is_the_last_that_gives_it(tmp_path: Path) -> None:
    config = tmp_path / "ragvigil.toml"
    config.write_text("[judge]\nsample_rate = 0.5\ndaily_money = 3\n")
    known = origins(config, {"RAGVIGIL_JUDGE__SAMPLE_RATE": "0.2", "ragvigil_web": "{}"})
    assert known["judge.sample_rate"] is Origin.ENVIRONMENT
    assert known["judge.daily_money"] is Origin.FILE
    assert known["judge.model"] is Origin.DEFAULT
    assert known["web.endpoint"] is Origin.ENVIRONMENT


async def test_the_page_has_the_numbers_of_the_api(store: Store) -> None:
    browser = client(store)
    html = (await browser.get("/health")).text
    words = unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)))
    ledger = (await browser.get("/api/v1/ledger")).json()["spans"]
    assert f"{ledger['acknowledged']} spans acknowledged" in words
    assert "the books balance" in words
    assert "There is nothing to trust yet" in words
    assert (await browser.get("/api/v1/health-report")).status_code == 404


def test_a_schedule_knows_the_last_run_of_each_job() -> None:
    def fails() -> None:
        raise RuntimeError("on purpose")

    jobs = [
        Job(name="works", every_seconds=60, function=lambda: None),
        Job(name="fails", every_seconds=60, function=fails),
    ]
    schedule = Schedule(jobs, clock=lambda: 1000.0)
    assert [run.last for run in schedule.runs()] == [None, None]
    for job in jobs:
        schedule._run_in_turn(job)
    works, failed = schedule.runs()
    assert (works.runs, works.has_failed, failed.failures, failed.has_failed) == (1, False, 1, True)
    assert works.last == datetime.fromtimestamp(1000, UTC)
