"""A help desk's eight days in a daemon's data, quiet and then in alarm: what pages are shown on.

    python -m tests.browser.world FOLDER

The daemon runs at forty times the time of the day, with a judge that reads texts. `FOLDER/quiet`
is its data before the fault, `FOLDER/alarm` after: an incident, its audit, an issue, golden cases.
`served` runs a daemon on a copy of either, at the hour at which it ended.
"""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from ragvigil.app.demo.child_daemon import ChildDaemon, running
from ragvigil.app.demo.replay import SendOptions, Tally, send_all
from ragvigil.app.demo.schedule import Arrival, Plan, Template, requests, schedule
from ragvigil.model.clock import VARIABLE, Pace
from tests.content_judge import ContentJudge
from tests.golden_sets import work_tree
from tests.llm_server import serving
from tests.patience import PATIENCE_SECONDS
from tests.replayed import recorded

FACTOR, NEARLY_STILL = 40.0, 1.01
BEHIND_SECONDS = 12 * 3600
"""How far in the past the daemon's day begins at least: its hours pass by the minute."""
DAYS, HISTORY_AN_HOUR, LIVE_AN_HOUR = 8.0, 10.0, 160.0
QUIET_MINUTES, MOST_MINUTES = 20.0, 400.0
STEP_SECONDS, LOOK_SECONDS = 1.0, 10.0
FAULTY_ROUTE = "/refunds/ask"
RUN_ID = "a1b2c3d4e5f60718"
PEOPLE = {
    "mara": ("approver", "mara-0123456789abcdef0123456789"),
    "okafor": ("approver", "okafor-0123456789abcdef01234567"),
    "tess": ("triager", "tess-0123456789abcdef0123456789"),
    "rita": ("reader", "rita-0123456789abcdef0123456789"),
    "root": ("admin", "root-0123456789abcdef0123456789"),
}
"""Role and token of everybody who may sign in to the served daemon."""


def pace_from(start: float, factor: float) -> Pace:
    """A clock that reads `start` now; its factor is over 1."""
    return Pace(factor=factor, origin=(factor * time.time() - start) / (factor - 1))


def build(folder: Path) -> None:
    """Makes `quiet` and `alarm` in a folder, in a few minutes.

    Raises RuntimeError if the fault is not told: a busy machine does not keep up with the clock.
    """
    data = folder / "data"
    clock = pace_from(_noon(), FACTOR)
    live = _Live(clock)
    with serving(ContentJudge().answer) as judge:
        settings = _settings(judge.openai)
        with _running(data, settings, clock) as daemon:
            _send_history(daemon, clock)
            live.send(daemon, QUIET_MINUTES, lambda: False)
            _mark_release(daemon, clock)
        _keep(data, folder / "quiet", clock)
        clock = pace_from(_ended(folder / "quiet"), FACTOR)
        live = _Live(clock, has_fault=True)
        with _running(data, settings, clock) as daemon:
            live.send(daemon, MOST_MINUTES, lambda: _is_told(daemon))
            if not _is_told(daemon):
                raise RuntimeError(
                    f"no incident is told in {MOST_MINUTES:.0f} minutes of the day: "
                    "the machine has no time for a clock that runs this fast"
                )
        _keep(data, folder / "alarm", clock)
    shutil.rmtree(data)


def _noon() -> float:
    """The last noon (UTC) that is BEHIND_SECONDS ago: at night too few ask for an audit."""
    day, noon = 24 * 3600.0, 12 * 3600.0
    return (time.time() - BEHIND_SECONDS - noon) // day * day + noon


@contextmanager
def served(world: Path, state: str, folder: Path, **settings: str) -> Iterator[Served]:
    """A daemon on a copy of a state of the world, `quiet`, `alarm` or `empty`; time stands still.

    Everybody in PEOPLE may sign in to it.
    """
    data = folder / state
    now = time.time()
    if state != "empty":
        shutil.copytree(world / state, data, symlinks=True)
        now = _ended(world / state)
    people = folder / "people"
    people.write_text("".join(f"{role} {token} {name}\n" for name, (role, token) in PEOPLE.items()))
    people.chmod(0o600)
    golden = folder / "golden-set"
    if not golden.exists():
        work_tree(golden)
    more = {
        "RAGVIGIL_WEB__TOKENS_FILE": str(people),
        "RAGVIGIL_GOLDEN__REPOSITORY": str(golden),
        "RAGVIGIL_INFERENCE__ENABLED": "false",
    }
    with _running(data, more | settings, pace_from(now, NEARLY_STILL)) as daemon:
        site = Served(daemon=daemon)
        if state == "alarm":
            _send_evaluation(site, now)
        yield site


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A daemon that stands for a moment of the world."""

    daemon: ChildDaemon

    @property
    def url(self) -> str:
        """Where its pages are."""
        return f"http://{self.daemon.web}"

    def get(self, path: str, person: str = "root", **parameters: Any) -> Any:
        """JSON of the API, as a person; a busy daemon is asked again."""
        headers = {"authorization": f"Bearer {PEOPLE[person][1]}"}
        url, ends = f"{self.url}/api/v1/{path}", time.monotonic() + PATIENCE_SECONDS
        while True:
            reply = httpx2.get(url, params=parameters, headers=headers, timeout=PATIENCE_SECONDS)
            if reply.status_code != 503 or time.monotonic() > ends:
                return reply.raise_for_status().json()
            time.sleep(1)


def _send_evaluation(site: Served, now: float) -> None:
    """A golden set that CI asked of 1.4.1, and what the gate said of it."""
    values = {"citation_validity": 1.0, "answer_relevance": 0.9, "recall@10": 0.95}
    cases = [
        {
            "case_id": f"case-{number}", "question": f"{number:016x}", "service": "helpdesk",
            "route": FAULTY_ROUTE, "reading": "not_used" if number < 3 else "", "values": values,
        }
        for number in range(40)
    ]  # fmt: skip
    ran = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - 7200))
    run = {
        "run_id": RUN_ID, "ran": ran, "set_name": "golden.jsonl", "set_hash": "9f3c",
        "target": "https://staging.example/ask", "release": "1.4.1", "cases": cases,
    }  # fmt: skip
    fell = {
        "rubric": "groundedness", "layer": "generation", "verdict": "worse", "decides": True,
        "n": 40, "base": 0.93, "new": 0.81, "low": -0.17, "high": -0.07, "allowed": 0.05,
    }  # fmt: skip
    gate = {
        "state": "worse",
        "base_release": "1.4.0",
        "sentences": [
            "Groundedness (generation) fell by 12 points, from 0.93 to 0.81 in 40 cases; 5 points "
            "are allowed"
        ],
        "comparisons": [fell],
    }
    headers = {"authorization": f"Bearer {PEOPLE['root'][1]}"}
    for path, body in (("", run), (f"/{RUN_ID}/gate", gate)):
        url = f"{site.url}/api/v1/evaluations{path}"
        reply = httpx2.post(url, json=body, headers=headers, timeout=PATIENCE_SECONDS)
        reply.raise_for_status()


class _Live:
    """Sends answers at the daemon's time; with the fault, the refunds invent quotations."""

    def __init__(self, clock: Pace, *, has_fault: bool = False) -> None:
        self._clock, self._dice = clock, random.Random(4)
        self._healthy, self._faulty = recorded("healthy"), recorded("fabricated_quotes")
        self._has_fault = has_fault

    def send(self, daemon: ChildDaemon, minutes: float, is_enough: Callable[[], bool]) -> None:
        """Sends until it is enough, at most so many minutes of the daemon's time."""
        ends = self._clock.now() + 60 * minutes
        last, looked = self._clock.now(), time.monotonic()
        while last < ends:
            if time.monotonic() - looked > LOOK_SECONDS:
                looked = time.monotonic()
                if is_enough():
                    return
            time.sleep(STEP_SECONDS)
            now = self._clock.now()
            arrivals = list(self._arrivals(last, now))
            last = now
            # Ids of traces come from the seed.
            _send(daemon, arrivals, Plan(ends_unix_nano=0, seed=self._dice.randrange(1 << 30)))

    def _arrivals(self, begin: float, end: float) -> Iterator[Arrival]:
        at = begin
        while (at := at + self._dice.expovariate(LIVE_AN_HOUR / 3600)) < end:
            route = self._dice.choice(sorted(self._healthy))
            is_faulty = self._has_fault and route == FAULTY_ROUTE
            deck: list[Template] = (self._faulty if is_faulty else self._healthy)[route]
            yield Arrival(start_unix_nano=int((at - 5) * 1e9), template=self._dice.choice(deck))


def _send_history(daemon: ChildDaemon, clock: Pace) -> None:
    plan = Plan(ends_unix_nano=clock.now_nanos(), days=DAYS, traces_per_hour=HISTORY_AN_HOUR)
    arrivals = list(schedule(recorded("healthy"), {}, plan))
    _send(daemon, arrivals, plan, backfill="history")
    _wait(lambda: sum(daemon.get("ledger")["records"].values()) >= len(arrivals))


def _send(daemon: ChildDaemon, arrivals: list[Arrival], plan: Plan, backfill: str = "") -> None:
    options = SendOptions(target=f"http://{daemon.http}", backfill=backfill, give_up_seconds=300)
    asyncio.run(send_all(requests(arrivals, plan), options, Tally()))


def _mark_release(daemon: ChildDaemon, clock: Pace) -> None:
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(clock.now() - 14 * 3600))
    mark = {"service": "helpdesk", "environment": "demo", "version": "1.4.0", "time": at}
    reply = httpx2.post(f"http://{daemon.web}/api/v1/deploys", json=mark, timeout=60)
    reply.raise_for_status()


def _is_told(daemon: ChildDaemon) -> bool:
    """Whether the incident has paged, its audit has ended and its issue has a name."""
    incidents = daemon.get("incidents")["incidents"]
    paged = any(incident["severity"] == "page" for incident in incidents)
    audits = daemon.get("audits")["audits"]
    return (
        paged
        and any(audit["pairs"] and audit["ended"] for audit in audits)
        and any(issue["routes"] for issue in daemon.get("issues")["issues"])
    )


def judged_by(judge: str) -> Mapping[str, str]:
    """Settings of a daemon that asks the judge at this address."""
    judging = {
        "MODEL": "openai:reader", "BASE_URL": judge, "KEY": "k", "ALLOW": "true",
        "SAMPLE_RATE": "0.1", "WAIT_SECONDS": "0", "CANARY_HOURS": "0",
        "RUBRICS": json.dumps(["groundedness", "context_relevance"]),
    }  # fmt: skip
    return {f"RAGVIGIL_JUDGE__{name}": value for name, value in judging.items()}


def _settings(judge: str) -> Mapping[str, str]:
    return judged_by(judge) | {
        "RAGVIGIL_INFERENCE__ENABLED": "true",
        "RAGVIGIL_ALERTS__AUDIT__RECORDS": "60",
        "RAGVIGIL_CLUSTERING__ROOT_CAUSE__RUNS_PER_DAY": "0",
    }


@contextmanager
def _running(data: Path, settings: Mapping[str, str], clock: Pace) -> Iterator[ChildDaemon]:
    with running(data, settings={**settings, VARIABLE: f"{clock.factor}@{clock.origin}"}) as daemon:
        yield daemon


def _keep(data: Path, state: Path, clock: Pace) -> None:
    shutil.copytree(data, state, symlinks=True)
    (state / "ended.json").write_text(json.dumps(clock.now()))


def _ended(state: Path) -> float:
    return float(json.loads((state / "ended.json").read_text()))


def _wait(is_so: Callable[[], bool]) -> None:
    ends = time.monotonic() + 600
    while not is_so():
        if time.monotonic() > ends:
            raise TimeoutError("the daemon did not get there in time")
        time.sleep(0.5)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
