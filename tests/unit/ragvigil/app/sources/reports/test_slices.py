"""Slices from stored answers to the API and the command."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from alerts.settings import AlertsSettings
from alerts.slices.job import SliceJob
from alerts.slices.settings import SliceSettings
from alerts.slices.tickets import SliceTickets
from ragvigil.app.sources.reports.reports import Reports
from ragvigil.model.figures import count, points, share
from ragvigil.model.finding import FindingKind
from ragvigil.store.engine.store import Store
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from tests.flow.test_api import Quiet
from tests.no_model import NO_MODEL
from tests.served_api import commands
from tests.unit.alerts.slices.test_job import HOUR, START, keep, of_tenant

DAY = 24 * HOUR


def test_the_slice_that_fell_is_named_by_the_command(store: Store, tmp_path: Path) -> None:
    answers = []
    for day in range(4):
        for number in range(40):
            tier = "gold" if number % 3 == 0 else "free"
            value = 0.5 if day == 3 and tier == "gold" else 0.9
            start = START - (3 - day) * DAY
            answers.append(of_tenant(100 * day + number, start, value=value, tenant=tier))
    keep(store, answers)
    settings = SliceSettings(by=("tier",), tiers={"gold": "paying", "*": "free"})
    job = SliceJob(store, settings)
    while job.run(START + HOUR + 600):
        pass
    clock = datetime.fromtimestamp(START + HOUR + 900, UTC)
    alerts = AlertsSettings(slices=settings)
    web = api(
        store,
        Quiet(),
        WebSettings(),
        reporting=Reports(store, {}, alerts, NO_MODEL),
        clock=lambda: clock,
    )
    tickets = SliceTickets(store, alerts, settings)
    tickets.look(clock.timestamp())
    (ticket,) = tickets.run(clock.timestamp())
    assert ticket.kind is FindingKind.LIMIT
    assert ticket.words.startswith("groundedness of tier paying, 35 % of the answers, fell by 40")
    with commands(web, tmp_path) as daemon:
        reply = json.loads(daemon.say("slices", "--json"))
        worse = {(row["name"], row["rubric"]) for row in reply["slices"] if row["is_worse"]}
        assert worse == {("paying", "groundedness")}
        assert {round(row["share"], 2) for row in reply["slices"]} == {0.35, 0.65}
        printed = daemon.say("slices", "--dimension", "tier")
        assert "helpdesk prod: groundedness of tier paying fell by 40 points" in printed
        assert "no slices yet" in daemon.say("slices", "--service", "other")
        page = daemon.page("/slices")
        assert "Tier paying got worse: groundedness fell by 40 points" in page
        for row in reply["slices"]:
            change = f"{points(row['low'])} to {points(row['high'])}"
            assert f"{points(row['delta'])} {change}" in page
            assert f"{count(row['n'])} {share(row['share'])}" in page
        assert "No slice of the traffic is known yet" in daemon.page("/slices?service=other")
