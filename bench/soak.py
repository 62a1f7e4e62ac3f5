"""An even load for half an hour with everything on, then a minute of twice as much.

    .venv/bin/python bench/soak.py [--small] [--minutes N]

One daemon with local models and a judge (a stand-in in a process of its own that takes 200 ms a
call) gets 1,500 spans a second, one answer in ten of which fails, so that the watch, audits and
clustering work as well. Every few seconds it is looked at: how long the oldest acknowledged span
that is not stored has waited, less the time for which a trace waits for more spans; and the memory
of intake and core. Then come 3,000 spans a second for a minute, and the time until all is stored.
A plateau: the median memory of the last quarter of the even load, less that of the second.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.rig.even_load import SEED, EvenLoad
from bench.rig.judge_latency import judging
from bench.rig.judge_stand_in import standing_in
from bench.rig.options import size_parser
from bench.rig.processes import core_pid, cpu_seconds, memory_mb
from bench.rig.report import finish, progress
from collector.assembly.settings import AssemblyLimits
from ragvigil.app.demo.child_daemon import ChildDaemon, running

RATE, SMALL_RATE, TRACES_A_REQUEST = 1_500, 100, 25
MINUTES, SMALL_MINUTES = 30.0, 0.3
BURST_TIMES, BURST_SECONDS, SMALL_BURST_SECONDS = 2, 60.0, 3.0
JUDGED_SHARE, JUDGE_SECONDS = 0.05, 0.2
LOOK_SECONDS = 3.0
LOCAL_MODELS = {"RAGVIGIL_INFERENCE__ENABLED": "true"}
"""Here the environment of other benchmarks does not switch them off."""
SETTLE_SECONDS = 60.0
"""A core loads its local models in the first minute."""
CATCH_UP_SECONDS = 600.0
MOST_LAG_SECONDS, MOST_GROWTH_MB = 5.0, 50.0


class Looks:
    """What was seen of a daemon under a load, look by look."""

    def __init__(self, daemon: ChildDaemon, load: EvenLoad) -> None:
        self.lags: list[float] = []
        self.memory: list[float] = []
        self._daemon, self._load = daemon, load
        self._pids = (daemon.process.pid, core_pid(daemon))

    def during(self, seconds: float) -> None:
        """Looks every few seconds, and says what it sees every half minute."""
        said = time.monotonic()
        end = said + seconds
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, LOOK_SECONDS))
            self.lags.append(self._lag())
            self.memory.append(sum(memory_mb(pid, "VmRSS") for pid in self._pids))
            if time.monotonic() - said > 30:
                said = time.monotonic()
                progress(f"{self._load.spans} spans, {self.lags[-1]:.1f} s, {self.memory[-1]} MB")

    def cpu(self) -> float:
        """Seconds of CPU of intake, core and what they started and has ended."""
        return sum(cpu_seconds(pid, with_ended=True) for pid in self._pids)

    def until_stored(self) -> float:
        """Seconds until everything acknowledged is stored, or patience ends."""
        began = time.monotonic()
        while self._stored() < self._load.spans and time.monotonic() - began < CATCH_UP_SECONDS:
            time.sleep(0.5)
        return time.monotonic() - began

    def _lag(self) -> float:
        waited = self._load.waited(self._stored())
        return max(0.0, waited - AssemblyLimits().quiet_seconds)

    def _stored(self) -> int:
        return int(self._daemon.get("ledger")["spans"]["stored"])


def growth(memory: list[float]) -> float:
    """Median of the last quarter less that of the second, MB."""
    quarter = max(1, len(memory) // 4)
    second, last = memory[quarter : 2 * quarter] or memory, memory[-quarter:]
    return statistics.median(last) - statistics.median(second)


def soak(
    daemon: ChildDaemon, *, rate: float, minutes: float, burst_seconds: float, settle_seconds: float
) -> tuple[dict[str, Any], dict[str, bool]]:
    """Figures of the even load and of the burst, and the bars that hold at any size and speed."""
    load = EvenLoad(daemon.http, rate, traces_a_request=TRACES_A_REQUEST)
    load.start()
    looks = Looks(daemon, load)
    time.sleep(settle_seconds)
    before, began = looks.cpu(), load.spans
    looks.during(60 * minutes)
    lags, memory = looks.lags.copy(), looks.memory.copy()
    spent, even = looks.cpu() - before, load.spans - began
    load.rate *= BURST_TIMES
    looks.during(burst_seconds)
    load.stop()
    caught_up = looks.until_stored()
    ledger, judge = dict(daemon.get("ledger")["spans"]), daemon.get("status")["judge"]
    figures: dict[str, Any] = {
        "minutes": minutes,
        "spans_a_second": round(even / 60 / minutes),
        "spans_acknowledged": load.spans,
        "requests_refused": load.refused,
        "lag_median_s": round(statistics.median(lags), 1),
        "lag_p99_s": round(statistics.quantiles(lags, n=100)[98], 1),
        "lag_max_s": round(max(lags), 1),
        "lag_of_burst_max_s": round(max(looks.lags[len(lags) :]), 1),
        "caught_up_after_s": round(caught_up, 1),
        "memory_mb": round(statistics.median(memory)),
        "memory_max_mb": round(max(looks.memory)),
        "memory_growth_mb": round(growth(memory), 1),
        "cpu_us_a_span": round(1e6 * spent / max(1, even)),
        "judge_calls": judge["calls"],
        "ledger": ledger,
    }
    bars = {
        "no request was refused": not load.refused,
        "no acknowledged span is lost": ledger["stored"] == load.spans,
    }
    return figures, bars


def main() -> None:
    parser = size_parser(__doc__)
    parser.add_argument("--minutes", type=float)
    options = parser.parse_args()
    small = options.small
    with (
        tempfile.TemporaryDirectory() as folder,
        standing_in(seconds=JUDGE_SECONDS) as judge,
        running(Path(folder), settings=judging(judge, JUDGED_SHARE) | LOCAL_MODELS) as daemon,
    ):
        figures, bars = soak(
            daemon,
            rate=SMALL_RATE if small else RATE,
            minutes=options.minutes or (SMALL_MINUTES if small else MINUTES),
            burst_seconds=SMALL_BURST_SECONDS if small else BURST_SECONDS,
            settle_seconds=0.0 if small else SETTLE_SECONDS,
        )
    if not small:
        lag, grown = figures["lag_max_s"], figures["memory_growth_mb"]
        bars |= {
            f"lag <= {MOST_LAG_SECONDS:g} s at the even rate": lag <= MOST_LAG_SECONDS,
            f"memory grows by <= {MOST_GROWTH_MB:g} MB": grown <= MOST_GROWTH_MB,
        }
    finish("soak", figures, bars, seed=SEED)


if __name__ == "__main__":
    main()
