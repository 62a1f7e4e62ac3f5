"""The watch on a real daemon: a fault of the example service becomes one incident that says why."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from ragvigil.app.demo.child_daemon import ChildDaemon, running
from ragvigil.app.demo.schedule import Arrival, Plan, requests, schedule
from ragvigil.model.clock import VARIABLE, Pace
from tests.patience import PATIENCE_SECONDS
from tests.replayed import recorded, send, wait_for

pytestmark = pytest.mark.slow

FACTOR = 10.0
ROUTE = "/refunds/ask"


@pytest.fixture(scope="module")
def clock() -> Pace:
    return Pace(factor=FACTOR, origin=time.time())


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory, clock: Pace) -> Iterator[ChildDaemon]:
    """A daemon with six healthy hours, whose refunds then invent quotes for some minutes."""
    settings = {VARIABLE: f"{clock.factor}@{clock.origin}"}
    with running(tmp_path_factory.mktemp("watched"), settings=settings) as daemon:
        began = clock.now_nanos()
        plan = Plan(ends_unix_nano=began, days=0.25, traces_per_hour=400, is_even=True)
        send(daemon, requests(schedule(recorded("healthy"), {}, plan), plan), backfill="healthy")
        wait_for(lambda: daemon.get("ledger")["spans"]["in_spool"] == 0)
        wrong = recorded("fabricated_quotes")[ROUTE]
        now = clock.now_nanos()
        arrivals = [
            Arrival(start_unix_nano=now - 15 * 10**9 * (30 - n), template=wrong[n])
            for n in range(30)
        ]
        send(daemon, requests(arrivals, replace(plan, seed=12)))
        yield daemon


def test_a_fault_is_one_page_that_says_what_where_and_what_changed(watched: ChildDaemon) -> None:
    def paged() -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = watched.get("incidents")["incidents"]
        return [incident for incident in listed if incident["severity"] == "page"]

    (incident,) = wait_for(paged)
    assert incident["cause"] == "generation"
    assert len(incident["message"]) <= 6
    assert "cite what is not there" in incident["message"][0]
    assert ROUTE in incident["message"][1]
    assert "prompt" in incident["message"][2]
    assert len(watched.get("incidents")["incidents"]) == 1


def test_the_change_was_noticed_on_its_route_alone(watched: ChildDaemon) -> None:
    notices = wait_for(lambda: watched.get("notices")["notices"])
    assert [(notice["kind"], notice["route"]) for notice in notices] == [("prompt", ROUTE)]


def test_prometheus_reads_the_page_and_its_message(watched: ChildDaemon) -> None:
    def exposed() -> str:
        text = httpx2.get(f"http://{watched.metrics}/metrics", timeout=PATIENCE_SECONDS).text
        return text if 'severity="page"' in text else ""

    text = wait_for(exposed)
    assert text.count("ragvigil_incident_open{") == 1
    assert "ragvigil_incident_message{" in text
    assert 'signal="citation_validity:failed"' in text


def test_the_command_line_tells_why_and_takes_what_a_person_says(watched: ChildDaemon) -> None:
    def run(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "ragvigil.app.cli.main", *words],
            env=os.environ | {"RAGVIGIL_WEB__ENDPOINT": watched.web},
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    (incident,) = wait_for(lambda: watched.get("incidents")["incidents"])
    said = run("why", ROUTE)
    assert len(said.splitlines()) <= 10
    assert "cite what is not there" in said
    run("incidents", "ack", incident["incident_id"])
    after = watched.get(f"incidents/{incident['incident_id']}")
    assert after["state"] == "acknowledged"
    assert [(event["verb"], event["actor"]) for event in after["events"]][-1] == (
        "acknowledge",
        "local",
    )
