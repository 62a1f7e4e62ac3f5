"""`ragvigil incidents`, `why` and `limits`, against the API on a port of its own."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from alerts.incidents.job import IncidentJob
from alerts.incidents.settings import IncidentSettings
from ragvigil.app.cli.input.triage import end_of
from ragvigil.app.cli.main import app
from ragvigil.app.client.api import Refused
from ragvigil.app.sources.incidents import Incidents
from ragvigil.store.engine.store import Store
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from tests.flow.test_api import NOW, Quiet
from tests.flow.test_incidents import change, finding
from tests.served_api import Commands, commands

TOKENS = {"triager_token": "tr1ager", "reader_token": "r3ader"}


@pytest.fixture
def job(store: Store) -> IncidentJob:
    return IncidentJob(store, IncidentSettings(), clock=time.time)


@pytest.fixture
def daemon(store: Store, job: IncidentJob, tmp_path: Path) -> Iterator[Commands]:
    source = Incidents(store, job, Quiet())
    web = api(store, Quiet(), WebSettings.model_validate(TOKENS), watching=source)
    with commands(web, tmp_path, TOKENS) as made:
        yield made


def test_incidents_are_listed_shown_and_judged_under_the_users_name(
    job: IncidentJob, daemon: Commands
) -> None:
    assert "no incidents" in daemon.say("incidents", "list")
    name = job.run(NOW, [finding("a")], [change()])[0].incident_id
    assert f"{name}  open          page " in daemon.say("incidents", "list")
    assert daemon.say("incidents", "ack", name).strip() == f"{name} is acknowledged by triager"
    assert "snoozed until" in daemon.say("incidents", "snooze", name, "--for", "4h")
    daemon.say("incidents", "assign", name, "mara", "-m", "her prompt")
    daemon.say("incidents", "note", name, "-m", "asking mara")
    said = daemon.say("incidents", "false-page", name, "-m", "a load test")
    assert said.strip() == f"{name} is resolved, a false page"
    shown = daemon.say("incidents", "show", name)
    for words in (
        *("38 of 41 answers", "prompt on /refunds", "acknowledge by triager", "a load test"),
        *("assign by triager  to mara: her prompt", "note by triager  asking mara"),
    ):
        assert words in shown, shown
    assert "0 % of pages were right (1 judged, 1 in all)" in daemon.say("incidents", "list")
    found = json.loads(daemon.say("incidents", "list", "--state", "resolved", "--json"))
    assert [incident["incident_id"] for incident in found["incidents"]] == [name]


def test_a_verb_that_does_not_fit_is_one_sentence(job: IncidentJob, daemon: Commands) -> None:
    name = job.run(NOW, [finding("a")], [])[0].incident_id
    daemon.say("incidents", "resolve", name)
    with pytest.raises(Refused, match="is resolved"):
        daemon.say("incidents", "ack", name)
    with pytest.raises(Refused, match="there is no incident none"):
        daemon.say("incidents", "expected", "none")


def test_why_is_told_in_ten_lines(job: IncidentJob, daemon: Commands) -> None:
    told = daemon.say("why").splitlines()
    assert told[0].startswith("not watching")
    job.run(NOW, [finding("a")], [])
    assert any("38 of 41 answers" in line for line in daemon.say("why", "/refunds").splitlines())
    assert len(json.loads(daemon.say("why", "--json"))["lines"]) <= 10


def test_limits_need_no_daemon() -> None:
    asked = ["limits", "--requests", "400", "--routes", "5", "--sample", ".07"]
    text = CliRunner().invoke(app, asked).output
    for layer in ("notice", "broken", "moved", "audit", "drift"):
        assert layer in text
    found = json.loads(CliRunner().invoke(app, [*asked, "--json"]).output)
    assert found["service"]["requests"] == 400
    in_a_day = next(limit for limit in found["limits"] if limit["what"].endswith("24 h"))
    assert round(in_a_day["pooled_points"]) == 6
    assert CliRunner().invoke(app, ["limits", "--requests", "0"]).exit_code == 2


@pytest.mark.parametrize(
    ("until", "length", "expected"),
    [("", "4h", "2026-03-01T16:00"), ("2026-03-02", "", "2026-03-02T00:00")],
)
def test_a_snooze_ends_at_a_time_or_after_one(until: str, length: str, expected: str) -> None:
    end = end_of(until, length, datetime(2026, 3, 1, 12, tzinfo=UTC))
    assert end.isoformat().startswith(expected)
    assert end.tzinfo is UTC


@pytest.mark.parametrize(
    ("until", "length"), [("", ""), ("2026-03-02", "4h"), ("", "4 hours"), ("soon", "")]
)
def test_a_snooze_without_one_clear_end_is_refused(until: str, length: str) -> None:
    with pytest.raises(typer.BadParameter):
        end_of(until, length, datetime(2026, 3, 1, 12, tzinfo=UTC))
