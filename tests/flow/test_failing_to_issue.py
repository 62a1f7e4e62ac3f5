"""A fault's answers are the issue of its incident in a real daemon: replayed, live, restarted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragvigil.app.demo.child_daemon import ChildDaemon, running
from ragvigil.app.demo.replay import OutgoingRequest
from ragvigil.app.demo.schedule import Arrival, Plan, requests, schedule
from ragvigil.model.clock import VARIABLE, Pace
from tests.replayed import recorded, send, wait_for

pytestmark = pytest.mark.slow

FACTOR = 60.0
ROUTE = "/refunds/ask"


@pytest.fixture(scope="module")
def clock() -> Pace:
    return Pace(factor=FACTOR, origin=time.time())


def wrong(clock: Pace, count: int, seed: int) -> Iterator[OutgoingRequest]:
    """So many answers with invented quotes, of the last minutes."""
    now = clock.now_nanos()
    found = recorded("fabricated_quotes")[ROUTE]
    arrivals = [
        Arrival(start_unix_nano=now - 15 * 10**9 * (count - n), template=found[n % len(found)])
        for n in range(count)
    ]
    return requests(arrivals, Plan(ends_unix_nano=now, days=0.25, traces_per_hour=400, seed=seed))


def test_a_fault_of_replayed_traffic_is_an_issue_that_grows_and_survives_a_restart(
    tmp_path: Path, clock: Pace
) -> None:
    settings = {VARIABLE: f"{clock.factor}@{clock.origin}"}

    def about_quotes(daemon: ChildDaemon) -> dict[str, Any] | None:
        return next((issue for issue in on_route(daemon) if issue["incident_id"]), None)

    def on_route(daemon: ChildDaemon) -> list[dict[str, Any]]:
        listed = daemon.get("issues")["issues"]
        return [issue for issue in listed if ROUTE in issue["routes"] and issue["count"]["seen"]]

    with running(tmp_path, settings=settings) as daemon:
        plan = Plan(ends_unix_nano=clock.now_nanos(), days=0.5, traces_per_hour=100)
        send(daemon, requests(schedule(recorded("healthy"), {}, plan), plan), backfill="healthy")
        send(daemon, wrong(clock, 20, seed=12), backfill="wrong")
        first = wait_for(lambda: about_quotes(daemon))
        assert first["rubric"] == "citation_validity"
        assert not first["is_provisional"]
        members = first["count"]["seen"]
        assert daemon.get("status")["issues"]["no_vectors"]
    with running(tmp_path, settings=settings) as daemon:
        send(daemon, wrong(clock, 5, seed=13))
        grown = wait_for(
            lambda: (
                (issue := about_quotes(daemon)) and issue["count"]["seen"] >= members + 5 and issue
            )
        )
        assert grown["issue_id"] == first["issue_id"]
        assert len(on_route(daemon)) == 1
