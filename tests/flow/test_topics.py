"""Topics from stored records through the API to the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragvigil.app.sources.topics import Topics
from ragvigil.store.engine.store import Store
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from tests.flow.test_api import Quiet
from tests.served_api import Commands, commands
from tests.unit.clustering.topics.test_job import SETTINGS, Job, ask
from tests.unit.ragvigil.store.issues.test_topics import about, rate, write

pytestmark = pytest.mark.slow


@pytest.fixture
def job(store: Store) -> Job:
    return Job(store=store)


@pytest.fixture
def daemon(store: Store, job: Job, tmp_path: Path) -> Iterator[Commands]:
    web = api(store, Quiet(), WebSettings(), charting=Topics(store, job.job, SETTINGS))
    with commands(web, tmp_path) as made:
        yield made


def test_before_the_first_map_it_is_said_what_is_missing(
    store: Store, job: Job, daemon: Commands
) -> None:
    assert daemon.say("topics") == "no topics yet: no question has been embedded\n"
    ask(store, range(40))
    job.run()
    assert daemon.say("topics") == "helpdesk prod: no map yet, 40 of 50 questions\n"
    job.model.is_there = False
    write(store, [about(99, "a refund")])
    job.run()
    assert "nothing is collected: no model here" in daemon.say("topics")


def test_topics_are_told_with_intervals_verdicts_and_gaps(
    store: Store, job: Job, daemon: Commands
) -> None:
    ask(store, range(400))
    for number in range(400):
        if number % 4 == 1:  # parcels: 10 of 100 badly
            rate(store, number, float(number % 40 != 1))
        if number % 2 == 0:  # refunds: 200, none badly
            rate(store, number, 1.0)
    for number in (3, 7):
        rate(store, number, 0.0)
    job.golden = ["a refund, please"]
    job.run()
    (found,) = json.loads(daemon.say("topics", "--json"))["maps"]
    told = {topic["name"].split(", ")[0]: topic for topic in found["topics"]}
    assert {name: topic["verdict"] for name, topic in told.items()} == {
        "refund": "good",
        "parcel": "problem",
        "password": "cannot_tell",
    }
    assert {name: topic["is_gap"] for name, topic in told.items()} == {
        "refund": False,
        "parcel": True,
        "password": True,
    }
    parcels = told["parcel"]
    assert parcels["asked"]["share"] == 0.25
    assert parcels["thumbs_down"] == pytest.approx(
        {"count": 10, "of": 100, "share": 0.1, "low": 0.0552, "high": 0.1744}, abs=1e-3
    )
    assert parcels["failing"]["share"] == 0.1
    assert found["rest"]["thumbs_down"]["share"] is None
    lines = daemon.say("topics").splitlines()
    assert lines[0].startswith("helpdesk prod: 400 questions since 20")
    (place,) = (place for place, line in enumerate(lines) if line.startswith("parcel"))
    assert lines[place + 1] == (
        "  25 % of questions, 10 % of them fail, "
        "10 % [6 %, 17 %] of 100 thumbs-down (problem), golden cases 0: a GAP"
    )
    assert "nobody rated" in lines[-1]
    assert lines[-2] == "in no topic"


def test_topics_can_be_asked_for_by_service(store: Store, job: Job, daemon: Commands) -> None:
    ask(store, range(60))
    write(store, [about(number, "my refund", service="shop") for number in range(60, 120)])
    job.run()
    found = json.loads(daemon.say("topics", "--json", "--service", "shop"))
    assert [(map_["service"], map_["questions"]) for map_ in found["maps"]] == [("shop", 60)]
    assert [service["service"] for service in found["collecting"]] == ["shop"]
