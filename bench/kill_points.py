"""kill -9 at named points of a write: nothing acknowledged is lost, nothing has two effects.

    .venv/bin/python bench/kill_points.py [--small] [--times N] [--minutes M] [--seed N]

A sender keeps sending, while the intake or the core kills itself exactly where a write has come to:
before and after the spool's write, behind its sync, between the commit and the answer, between the
tables of a batch, in an insert, behind the batch or the ledger's rows, around a checkpoint. Each
point N times, in an order that the seed draws. `after_answer` is the sender's own: it kills the
intake as soon as it has read an acknowledgement. What must hold at the end is `kill_storm`'s.
No kill begins after M minutes; a storm that was cut short has not passed.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from bench.kill_storm import (
    DRAIN_SECONDS,
    READY_SECONDS,
    Stream,
    bars_of,
    drained,
    stored_effects,
    wait_until_gone,
)
from bench.rig import otlp_requests
from bench.rig.kill_here.sitecustomize import POINT_FILE
from bench.rig.report import finish, progress
from ragvigil.app.demo.child_daemon import ChildDaemon, free_port, start

HERE = Path(__file__).resolve().parent / "rig" / "kill_here"
INTAKE = ("before_write", "after_write", "after_fsync", "after_commit", "before_answer")
CORE = ("mid_batch", "mid_insert", "after_insert", "after_ledger")
CORE += ("before_checkpoint", "after_rename", "after_checkpoint")
AFTER_ANSWER = "after_answer"
POINTS = (*INTAKE, AFTER_ANSWER, *CORE)
TIMES = 25
PAUSE_SECONDS = 0.5
REACHED_SECONDS = 120.0
"""A point that no process comes to for so long under load: the benchmark is wrong, and says so."""


@dataclass(slots=True, kw_only=True)
class Killing:
    """A daemon that dies at the points it is told, and lives again."""

    folder: Path
    stream: Stream
    rng: random.Random
    daemon: ChildDaemon
    made: Counter[str] = field(default_factory=Counter)
    waits: list[float] = field(default_factory=list)

    @classmethod
    def begin(cls, folder: Path, stream: Stream, rng: random.Random) -> Killing:
        """A daemon that is ready, under load."""
        daemon = start(folder / "data", settings=_settings(folder, stream))
        made = cls(folder=folder, stream=stream, rng=rng, daemon=daemon)
        daemon.wait_ready()
        threading.Thread(target=stream.run, args=(PAUSE_SECONDS,), daemon=True).start()
        return made

    def kill(self, point: str) -> None:
        """Ends a process at the point, and waits until the daemon is ready again."""
        time.sleep(self.rng.uniform(0.0, 1.0))
        if point == AFTER_ANSWER:
            self._after_answer()
        else:
            self._at(point)
        if point in CORE:
            wait_until_gone(self.daemon)
        else:
            self.daemon.process.wait(30)
            self.daemon = start(self.folder / "data", settings=_settings(self.folder, self.stream))
        self.waits.append(self.daemon.wait_ready())
        self.made[point] += 1

    def _at(self, point: str) -> None:
        armed = self.folder / "point"
        reached = armed.with_name("point.reached")
        reached.unlink(missing_ok=True)
        draft = armed.with_name("point.draft")
        draft.write_text(point, encoding="ascii")
        draft.replace(armed)
        deadline = time.monotonic() + REACHED_SECONDS
        while not reached.exists():
            if time.monotonic() > deadline:
                raise TimeoutError(f"no process came to {point}")
            time.sleep(0.005)

    def _after_answer(self) -> None:
        before = self.stream.acknowledged
        deadline = time.monotonic() + REACHED_SECONDS
        while self.stream.acknowledged == before:
            if time.monotonic() > deadline:
                raise TimeoutError("no request was acknowledged")
            time.sleep(0.0005)
        os.kill(self.daemon.process.pid, signal.SIGKILL)


def _settings(folder: Path, stream: Stream) -> dict[str, str]:
    path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH", "")]))
    return {
        "RAGVIGIL_COLLECTOR__HTTP_ENDPOINT": stream.address,
        POINT_FILE: str(folder / "point"),
        "PYTHONPATH": path,
    }


def storm(folder: Path, stream: Stream, rng: random.Random, times: int, minutes: float) -> Killing:
    """Each point so many times, in an order of chance."""
    order = [point for point in POINTS for _ in range(times)]
    rng.shuffle(order)
    killing = Killing.begin(folder, stream, rng)
    end = time.monotonic() + 60 * minutes
    for number, point in enumerate(order, 1):
        if time.monotonic() > end:
            progress("the time is over")
            break
        killing.kill(point)
        progress(f"{number}/{len(order)} {point}, ready after {killing.waits[-1]:.1f} s")
    return killing


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--times", type=int, help=f"at each point; {TIMES}, or 1 where small")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=20)
    options = parser.parse_args()
    times = options.times or (1 if options.small else TIMES)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stream = Stream(f"127.0.0.1:{free_port(0)}", [], seed=options.seed)
        killing = storm(folder, stream, random.Random(options.seed), times, options.minutes)
        stream.end(DRAIN_SECONDS)
        sent = stream.acknowledged * otlp_requests.SPANS
        ledger = drained(killing.daemon, sent)
        status = killing.daemon.stop()
        effects = stored_effects(folder / "data")
    figures: dict[str, object] = {
        "points": len(POINTS),
        "kills": killing.made.total(),
        "kills_by_point": {point: killing.made[point] for point in POINTS},
        "requests_acknowledged": stream.acknowledged,
        "retries": stream.retries,
        "spans_acknowledged": sent,
        "ledger": ledger,
        "effects": effects,
        "ready_seconds_max": round(max(killing.waits), 1),
    }
    bars = bars_of(stream, ledger, effects)
    bars[f"every point {times} times"] = all(killing.made[point] >= times for point in POINTS)
    bars["SIGTERM ends with status 0"] = status == 0
    if not options.small:
        bars[f"ready <= {READY_SECONDS} s after a kill"] = max(killing.waits) <= READY_SECONDS
    finish("kill_points", figures, bars, seed=options.seed)


if __name__ == "__main__":
    main()
