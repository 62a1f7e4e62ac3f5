"""Broken and moved signals: false findings on unchanged traffic, minutes to find, cost of a tick.

    python bench/signals.py [--small] [--seed N]

Unchanged traffic of four weeks (two days with --small): 400 requests an hour over five routes,
by the hour of the day, with usual rates, levels that differ by route and drift from hour to hour.
Then every rate that rises to 30, 60 or 100 % and every number that shifts by 10, 20 or 40 %, on
one route or all. Then one tick of 500 series through the embedded store.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from alerts.settings import AlertsSettings
from alerts.signals.broken import BrokenDetector
from alerts.signals.minutes import HOUR, MINUTE
from alerts.signals.moved import MovedDetector
from bench.rig.report import finish, peak_rss_mb, progress
from bench.rig.signals_tick import tick_cost
from bench.rig.signals_traffic import DAY, LEVELS, ROUTES, START, USUAL, Change, Replay, stream
from ragvigil.model.finding import Finding, FindingKind

SEED = 17
FALSE_MOVES = 4
TICK_SECONDS, TICK_MB = 1.0, 50.0


Found = dict[str, float | None]


def unchanged(rng: np.random.Generator, days: int) -> dict[str, float]:
    """Findings on traffic that never changes."""
    settings = AlertsSettings()
    replay = Replay(list(stream(rng, days * DAY, Change(), {*USUAL, *LEVELS})))
    broken, moved = BrokenDetector(settings.broken), MovedDetector(settings.moved)
    found: dict[str, Finding] = {}
    started = time.process_time()
    for minute in range(START, START + days * DAY, MINUTE):
        replay.minute(minute)
        end = minute + MINUTE
        for finding in (*broken.step(replay.table, [end], {}), *moved.step(replay.table, end, {})):
            found.setdefault(finding.finding_id, finding)
    for finding in found.values():
        day = (finding.since_unix_nano / 1e9 - START) / DAY
        progress(f"{day:.2f} d {finding.routes} {finding.words}")
    kinds = Counter(finding.kind for finding in found.values())
    return {
        "days": days,
        "broken": kinds[FindingKind.BROKEN],
        "moved": kinds[FindingKind.MOVED],
        "ms_a_tick": round((time.process_time() - started) / (days * DAY / MINUTE) * 1e3, 2),
    }


def minutes_to_find(rng: np.random.Generator, change: Change, *, most: int) -> int | None:
    """Minutes from the change until its finding, None where none came within `most`."""
    settings = AlertsSettings()
    at = change.at
    replay = Replay(list(stream(rng, at - START + most * MINUTE, change, {change.signal})))
    replay.past(at // HOUR * HOUR)
    broken, moved = BrokenDetector(settings.broken), MovedDetector(settings.moved)
    for minute in range(at // HOUR * HOUR, at + most * MINUTE, MINUTE):
        replay.minute(minute)
        end = minute + MINUTE
        if end <= at:
            continue
        found = (
            broken.step(replay.table, [end], {})
            if change.signal in USUAL
            else moved.step(replay.table, end, {})
        )
        if any(finding.signal == change.signal for finding in found):
            return (end - at) // MINUTE
    return None


def times_to_find(
    rng: np.random.Generator, signals: list[str], by: float, *, routes: int, repeats: int, most: int
) -> Found:
    """Median and 90th percentile over signals and repeats, at any time of the day."""
    taken: list[float] = []
    for signal in signals:
        for _ in range(repeats):
            at = START + 4 * DAY + int(rng.integers(0, DAY // MINUTE)) * MINUTE
            change = Change(signal=signal, at=at, by=by, routes=tuple(range(routes)))
            found = minutes_to_find(rng, change, most=most)
            taken.append(np.inf if found is None else found)
    median, late = np.percentile(taken, [50, 90], method="higher")
    return {
        "found": round(float(np.isfinite(taken).mean()), 3),
        "median": None if np.isinf(median) else int(median),
        "p90": None if np.isinf(late) else int(late),
    }


def found_in_time(rng: np.random.Generator, small: bool) -> dict[str, dict[str, Found]]:
    """Minutes to find every change, on one route and on all."""
    repeats = 2 if small else 8
    rates = {
        f"{by:.0%} on {routes}": times_to_find(
            rng, list(USUAL), by, routes=routes, repeats=repeats, most=60
        )
        for by in (0.3, 0.6, 1.0)
        for routes in (1, ROUTES)
    }
    progress(str(rates))
    shifts = {
        f"{by:.0%} on {routes}": times_to_find(
            rng, list(LEVELS), by, routes=routes, repeats=max(1, repeats // 2), most=120
        )
        for by in (0.1, 0.2, 0.4)
        for routes in (1, ROUTES)
    }
    progress(str(shifts))
    return {"broken": rates, "moved": shifts}


def main() -> None:
    """Runs it and prints the JSON line."""
    small = "--small" in sys.argv
    seed = int(sys.argv[sys.argv.index("--seed") + 1]) if "--seed" in sys.argv else SEED
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        tick = tick_cost(Path(folder), days=1 if small else 3, ticks=5 if small else 20)
    progress(str(tick))
    taken = found_in_time(rng, small)
    quiet = unchanged(rng, 2 if small else 28)
    bars = {
        "0 broken findings on unchanged traffic": quiet["broken"] == 0,
        f"<= {FALSE_MOVES} moved findings on unchanged traffic": quiet["moved"] <= FALSE_MOVES,
        "60 % on all routes: median <= 10 minutes": is_within(taken["broken"]["60% on 5"], 10),
        "100 % on one route: median <= 10 minutes": is_within(taken["broken"]["100% on 1"], 10),
        "60 % on one route: median <= 10 minutes": is_within(taken["broken"]["60% on 1"], 10),
        "40 % shift on all routes: median <= 60 minutes": is_within(taken["moved"]["40% on 5"], 60),
    }
    if not small:
        bars[f"a tick <= {TICK_SECONDS} s"] = tick["worst_tick_seconds"] <= TICK_SECONDS
        bars[f"a tick <= {TICK_MB} MB"] = tick["mb"] <= TICK_MB
    figures = {"tick": tick, "minutes": taken, "unchanged": quiet, "peak_rss_mb": peak_rss_mb()}
    finish("signals", figures, bars, seed=seed)


def is_within(found: Found, minutes: int) -> bool:
    """Whether half of the changes were found by then."""
    median = found["median"]
    return median is not None and median <= minutes


if __name__ == "__main__":
    main()
