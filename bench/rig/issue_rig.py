"""A daemon that judges every record, its healthy history, and traffic at the daemon's own pace."""

from __future__ import annotations

import asyncio
import random
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2

from bench.rig.issue_traffic import Answer, Truth, trace_id_of
from bench.rig.issue_truth import Fails, Named
from bench.rig.judge_latency import judging
from bench.rig.report import progress
from bench.rig.watch_faults import pace_from
from ragvigil.app.demo.child_daemon import ChildDaemon, running
from ragvigil.app.demo.recording import PROTOBUF
from ragvigil.app.demo.replay import OutgoingRequest, SendOptions, Tally, send_all
from ragvigil.model.clock import VARIABLE, Pace
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import failing_rows as failed
from ragvigil.store.settings import StoreSettings

TRACES_A_REQUEST = 40
LOOK_SECONDS = 0.5
PATIENCE_SECONDS = 900.0
MOST, MOST_FAILING = 1000, 100_000


def settings_for(judge: str) -> dict[str, str]:
    """Judges every record, history included; local models run; root causes and topics are off."""
    return judging(judge) | {
        "RAGVIGIL_JUDGE__BACKFILL": "true",
        "RAGVIGIL_INFERENCE__ENABLED": "true",
        "RAGVIGIL_CLUSTERING__ROOT_CAUSE__RUNS_PER_DAY": "0",
        "RAGVIGIL_CLUSTERING__TOPICS__QUESTIONS_PER_DAY": "0",
    }


def fill(folder: Path, judge: str, answers: Iterable[Answer], *, seed: int) -> dict[str, Truth]:
    """Stores and judges these answers; returns the truth of each by trace id."""
    dice = random.Random(f"{seed} history")
    sent = list(answers)
    bodies = [answer.template.emit(answer.start_unix_nano, dice) for answer in sent]
    with running(folder, settings=settings_for(judge)) as daemon:
        sending = SendOptions(
            target=f"http://{daemon.http}", backfill="healthy", give_up_seconds=PATIENCE_SECONDS
        )
        asyncio.run(send_all(_requests(bodies), sending, Tally()))
        _until(lambda: _is_judged(daemon), "the history was not judged in time")
    return {trace_id_of(b): answer.truth for b, answer in zip(bodies, sent, strict=True)}


def _requests(bodies: Sequence[bytes]) -> Iterator[OutgoingRequest]:
    for start in range(0, len(bodies), TRACES_A_REQUEST):
        some = bodies[start : start + TRACES_A_REQUEST]
        yield OutgoingRequest(
            body=b"".join(some), path="/v1/traces", content_type=PROTOBUF, items=len(some)
        )


def _is_judged(daemon: ChildDaemon) -> bool:
    spans, status = daemon.get("ledger")["spans"], daemon.get("status")
    is_stored = spans["stored"] + spans["duplicate"] == spans["acknowledged"]
    return is_stored and not status["daemon"]["open_traces"] and not status["judge"]["waiting"]


def _until(is_so: Callable[[], bool], otherwise: str) -> None:
    """Raises TimeoutError."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError(otherwise)
        time.sleep(LOOK_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rig:
    """A running daemon whose clock runs at `clock`."""

    clock: Pace
    daemon: ChildDaemon

    def send(self, answers: Sequence[Answer], *, seed: int) -> dict[str, Truth]:
        """Sends each answer when its trace has begun; what is true of each, by trace id."""
        dice = random.Random(f"{seed} hour")
        truths: dict[str, Truth] = {}
        left = list(answers)
        while left:
            due = [record for record in left if record.start_unix_nano <= self.clock.now_nanos()]
            left = left[len(due) :]
            bodies = [answer.template.emit(answer.start_unix_nano, dice) for answer in due]
            truths |= {trace_id_of(b): answer.truth for b, answer in zip(bodies, due, strict=True)}
            if bodies:
                self._post(b"".join(bodies))
            time.sleep(LOOK_SECONDS)
        return truths

    def _post(self, body: bytes) -> None:
        url = f"http://{self.daemon.http}/v1/traces"
        headers = {"content-type": PROTOBUF}
        httpx2.post(url, content=body, headers=headers, timeout=30).raise_for_status()

    def settle(self, minutes: float) -> None:
        """Until all is judged and placed, and at least so much of the daemon's time has passed."""
        ends = self.clock.now() + minutes * 60
        _until(lambda: _is_judged(self.daemon), "the hour was not judged in time")
        progress(f"judged {self.clock.now() - ends + minutes * 60:.0f} s after the hour")
        time.sleep(max(0.0, (ends - self.clock.now()) / self.clock.factor))
        _until(self._is_placed, "failing records were not placed in time")

    def _is_placed(self) -> bool:
        said = self.daemon.get("status")["issues"]
        return said["pending_minutes"] == said["waiting_for_vectors"] == 0

    def issues(self) -> list[Named]:
        """The issues there are, with all their members."""
        listed: Sequence[dict[str, Any]] = self.daemon.get("issues", limit=MOST)["issues"]
        return [
            Named(
                name=issue["name"],
                opened=datetime.fromisoformat(issue["opened"]).timestamp(),
                members=tuple(member["trace_id"] for member in self._members(issue["issue_id"])),
            )
            for issue in listed
        ]

    def _members(self, issue_id: str) -> Sequence[dict[str, Any]]:
        listed = self.daemon.get(f"issues/{issue_id}/members", limit=MOST)["members"]
        assert len(listed) < MOST, "an issue has more members than one page"
        found: Sequence[dict[str, Any]] = listed
        return found


@contextmanager
def hour_of(
    filled: Path, folder: Path, judge: str, *, ended: float, factor: float
) -> Iterator[Rig]:
    """A daemon on a copy of data whose traffic ended at `ended` (Unix seconds), at this pace."""
    shutil.copytree(filled, folder, symlinks=True)
    clock = pace_from(ended, factor)
    settings = settings_for(judge) | {VARIABLE: f"{clock.factor}@{clock.origin}"}
    with running(folder, settings=settings) as daemon:
        yield Rig(clock=clock, daemon=daemon)


def failing(folder: Path) -> dict[str, Fails]:
    """The failing records that a stopped daemon left, by trace id."""
    store = Store.open(StoreSettings(), folder)
    try:
        found = [
            row.failure for row in failed.find(store, failed.FailureFilter(limit=MOST_FAILING))
        ]
    finally:
        store.close()
    return {
        failure.trace_id: Fails(at=failure.time_unix_nano / 1e9, rubrics=frozenset(failure.rubrics))
        for failure in found
    }
