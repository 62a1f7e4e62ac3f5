"""kill -9 at named points of a write: nothing acknowledged is lost, nothing has two effects.

    .venv/bin/python bench/kill_points.py [--small] [--times N] [--minutes M] [--folder F]

A sender keeps sending, while the intake or the core kills itself exactly where a write has come to:
before and after the spool's write, behind its sync, between the commit and the answer, between the
tables of a batch, in an insert, behind the batch or the ledger's rows, around a checkpoint. Each
point N times, in an order that the seed draws. `after_answer` is the sender's own: it kills the
intake as soon as it has read an acknowledgement. What must hold at the end is `kill_storm`'s.
No kill begins after M minutes; a storm that was cut short has not passed, and the next run goes on
with it where both have the same folder.
"""

from __future__ import annotations

import os
import random
import signal
import statistics
import threading
import time
from collections import Counter
from dataclasses import dataclass
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
from bench.rig.kept_storm import KeptStorm, kept_storm
from bench.rig.kill_here.sitecustomize import POINT_FILE
from bench.rig.options import size_parser
from bench.rig.report import finish, progress
from ragvigil.app.demo.child_daemon import ChildDaemon, start

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

    storm: KeptStorm
    stream: Stream
    rng: random.Random
    daemon: ChildDaemon

    @classmethod
    def begin(cls, storm: KeptStorm, stream: Stream, rng: random.Random) -> Killing:
        """A daemon that is ready, under load."""
        daemon = start(storm.data, settings=_settings(storm.folder, stream))
        made = cls(storm=storm, stream=stream, rng=rng, daemon=daemon)
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
            settings = _settings(self.storm.folder, self.stream)
            self.daemon = start(self.storm.data, settings=settings)
        self.storm.waits.append(self.daemon.wait_ready())
        self.storm.kills.append(point)

    def _at(self, point: str) -> None:
        armed = self.storm.folder / "point"
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


def storm(kept: KeptStorm, stream: Stream, seed: int, times: int, minutes: float) -> Killing:
    """Each point so many times, in an order of chance; goes on after the kills of earlier parts."""
    order = [point for point in POINTS for _ in range(times)]
    random.Random(seed).shuffle(order)
    killing = Killing.begin(kept, stream, random.Random(stream.seed))
    end = time.monotonic() + 60 * minutes
    for number, point in enumerate(order[len(kept.kills) :], len(kept.kills) + 1):
        if time.monotonic() > end:
            progress("the time is over")
            break
        killing.kill(point)
        progress(f"{number}/{len(order)} {point}, ready after {kept.waits[-1]:.1f} s")
    return killing


def slow_starts(kept: KeptStorm) -> list[str]:
    """Point and seconds of each start that was over the bar."""
    starts = zip(kept.kills, kept.waits, strict=True)
    return [f"{point} {wait:.1f}" for point, wait in starts if wait > READY_SECONDS]


def main() -> None:
    parser = size_parser(__doc__)
    parser.add_argument("--times", type=int, help=f"at each point; {TIMES}, or 1 where small")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--folder", type=Path, help="of the storm of which this is a part")
    parser.add_argument("--seed", type=int, default=20)
    options = parser.parse_args()
    times = options.times or (1 if options.small else TIMES)
    with kept_storm(options.folder) as kept:
        stream = Stream.of(kept, options.seed)
        killing = storm(kept, stream, options.seed, times, options.minutes)
        stream.end(DRAIN_SECONDS)
        sent = stream.acknowledged * otlp_requests.SPANS
        ledger = drained(killing.daemon, sent)
        status = killing.daemon.stop()
        effects = stored_effects(kept.data)
        stream.tell(kept)
        kept.keep()
    made = Counter(kept.kills)
    figures: dict[str, object] = {
        "points": len(POINTS),
        "kills": made.total(),
        "parts": kept.parts,
        "kills_by_point": {point: made[point] for point in POINTS},
        "requests_acknowledged": stream.acknowledged,
        "retries": stream.retries,
        "spans_acknowledged": sent,
        "ledger": ledger,
        "effects": effects,
        "ready_seconds_median": round(statistics.median(kept.waits), 1),
        "ready_seconds_max": round(max(kept.waits), 1),
        "slow_starts": slow_starts(kept),
    }
    bars = bars_of(stream, ledger, effects)
    bars[f"every point {times} times"] = all(made[point] >= times for point in POINTS)
    bars["SIGTERM ends with status 0"] = status == 0
    if not options.small:
        bars[f"ready <= {READY_SECONDS} s after a kill"] = max(kept.waits) <= READY_SECONDS
    finish("kill_points", figures, bars, seed=options.seed)


if __name__ == "__main__":
    main()
