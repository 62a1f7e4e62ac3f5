"""Each fault of the example service, end to end: how many incidents, who was paged, when.

A store is filled once with days of healthy traffic; every fault begins on a copy of it. The service
is healthy for a while, has the fault on all routes, and is healthy again.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx2

from bench.rig.report import progress
from bench.rig.watch_expected import Truth
from bench.rig.watch_rig import REQUESTS_AN_HOUR, ROOT, Rig, rehearsal
from ragvigil.app.demo.child_daemon import ChildDaemon, running
from ragvigil.app.demo.recording import read_recording
from ragvigil.app.demo.replay import SendOptions, Tally, send_all
from ragvigil.app.demo.schedule import Plan, requests, schedule, templates
from ragvigil.model.clock import Pace

SETTLE_MINUTES, FAULT_MINUTES, CLEAR_MINUTES = 20.0, 120.0, 120.0
CALM_MINUTES = 20.0
"""The fault stays on this long after all that must come has come; a page too many would show."""
LOOK_SECONDS = 1.0
FILL_SECONDS = 900.0
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    """The outcome of a fault; times are minutes on the daemon's clock since it began, or None."""

    fault: str
    factor: float
    must_page: bool
    because: str
    incidents: int
    pages: int
    paged: tuple[str, ...]
    tickets: int
    noticed_minutes: float | None
    ticket_minutes: float | None
    page_minutes: float | None
    cleared_minutes: float | None
    before: int
    noticed: tuple[str, ...]
    said: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        """One incident; one page or none, as it must be; and over after the fix."""
        paged = self.pages == (1 if self.must_page else 0)
        return (
            self.incidents == 1 and paged and self.cleared_minutes is not None and not self.before
        )


def fill(folder: Path, *, days: float, seed: int) -> float:
    """A daemon's data with days of the service's healthy traffic; when they end, seconds."""
    healthy = templates(read_recording(ROOT / "examples" / "helpdesk" / "recorded" / "healthy"))
    plan = Plan(
        ends_unix_nano=time.time_ns(), days=days, traces_per_hour=REQUESTS_AN_HOUR, seed=seed
    )
    arrivals = list(schedule(healthy, {}, plan))
    progress(f"filling a store with {len(arrivals)} answers of {days} days")
    with running(folder) as daemon:
        sending = SendOptions(
            target=f"http://{daemon.http}", backfill="healthy", give_up_seconds=FILL_SECONDS
        )
        asyncio.run(send_all(requests(arrivals, plan), sending, Tally()))
        _wait_until_scored(daemon, len(arrivals))
    return plan.ends_unix_nano / 1e9


def _wait_until_scored(daemon: ChildDaemon, answers: int) -> None:
    deadline = time.monotonic() + FILL_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(httpx2.TransportError):
            if sum(daemon.get("ledger")["records"].values()) >= answers:
                return
        time.sleep(1.0)
    raise TimeoutError("the backfill was not scored in time")


def rehearse(
    filled: Path,
    truth: Truth,
    *,
    ended: float,
    factor: float,
    seed: int,
    until_cleared: bool = True,
) -> Rehearsed:
    """One fault on a copy of data whose traffic `ended` then, at this pace."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(filled, Path(folder) / "data", symlinks=True)
        with rehearsal(Path(folder), pace_from(ended, factor), seed=seed) as rig:
            return _observe(rig, truth, until_cleared=until_cleared)


def pace_from(start: float, factor: float) -> Pace:
    """A clock that reads `start` now; one that runs at 1 can only read the time of the day."""
    now = time.time()
    origin = (factor * now - start) / (factor - 1) if factor > 1 else now
    return Pace(factor=factor, origin=origin)


def _observe(rig: Rig, truth: Truth, *, until_cleared: bool) -> Rehearsed:
    rig.wait(SETTLE_MINUTES)
    before = _since(rig, rig.clock.now() - SETTLE_MINUTES * 60)
    began = rig.clock.now()
    rig.fault(truth.fault, on=True)
    _until(rig, FAULT_MINUTES, lambda: _has_come(rig, truth, began))
    rig.wait(CALM_MINUTES)
    rig.fault(truth.fault, on=False)
    fixed = rig.clock.now()
    cleared = until_cleared and _until(rig, CLEAR_MINUTES, lambda: _is_over(rig, began))
    return _told(rig, truth, began, len(before), fixed if cleared else None)


def _has_come(rig: Rig, truth: Truth, began: float) -> bool:
    return bool(rig.pager.pages() if truth.must_page else _since(rig, began))


def _is_over(rig: Rig, began: float) -> bool:
    opened = _since(rig, began)
    return all(incident["state"] == "resolved" for incident in opened) and all(
        rig.pager.is_cleared(incident) for incident in rig.pager.pages()
    )


def _since(rig: Rig, began: float) -> Sequence[Row]:
    """The incidents that opened since then."""
    listed: Sequence[Row] = rig.daemon.get("incidents", since=str(int(began)))["incidents"]
    return listed


def _until(rig: Rig, minutes: float, is_so: Callable[[], bool]) -> bool:
    """Waits until something is so, at most so many minutes of the daemon's time."""
    ends = rig.clock.now() + minutes * 60
    while rig.clock.now() < ends:
        if is_so():
            return True
        time.sleep(LOOK_SECONDS)
    return False


def _told(rig: Rig, truth: Truth, began: float, before: int, fixed: float | None) -> Rehearsed:
    pages, opened = rig.pager.pages(), _since(rig, began)
    notices: Sequence[Row] = rig.daemon.get("notices", since=str(int(began)))["notices"]
    first = min((page["at"] for page in pages.values()), default=None)
    shown = rig.daemon.get(f"incidents/{opened[0]['incident_id']}") if opened else {}
    made = Rehearsed(
        fault=truth.fault,
        factor=rig.clock.factor,
        must_page=truth.must_page,
        because=truth.because,
        incidents=len(opened),
        pages=len(pages),
        paged=tuple(_name(page["labels"]) for page in pages.values()),
        tickets=len(opened) - len(pages),
        noticed_minutes=_minutes(
            min((notice["noticed"] for notice in notices), default=None), began
        ),
        ticket_minutes=_minutes(
            min((incident["opened"] for incident in opened), default=None), began
        ),
        page_minutes=_minutes(first, began),
        cleared_minutes=None if fixed is None else _minutes(rig.clock.now(), fixed),
        before=before,
        noticed=tuple(sorted({notice["kind"] for notice in notices})),
        said=tuple(shown.get("message", ())),
    )
    progress(str(asdict(made)))
    return made


def _name(labels: Mapping[str, str]) -> str:
    return " ".join(filter(None, (labels["alertname"], labels.get("reason"))))


def _minutes(when: float | str | None, began: float) -> float | None:
    if when is None:
        return None
    seconds = when if isinstance(when, float) else _seconds(str(when))
    return round((seconds - began) / 60, 1)


def _seconds(text: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(text).timestamp()
