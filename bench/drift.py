"""The detector of sustained drops: false alarms, delays, the cost of boosts, a new judge.

    python bench/drift.py [--small] [--folder FOLDER]

Streams have atoms at 0 and 1, a spread of 0.17 to 0.33, days, weekends, a level that moves by 1.5
points with the hour, and noise that lasts an hour. Judged answers an hour are those of a weekday's
mean. Bounds are one-sided, 95 %: of a Poisson count for alarms, of order statistics for medians.
With RAGVIGIL_BENCH_DATA the scores of labelled sets are drawn in blocks, too. What each part found
is kept in the folder, and a rerun goes on from it: give a new one after a change of the detector.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from alerts.drift.detect import DriftRules, Tick, step, threshold
from alerts.drift.state import Floats, empty
from bench.rig.drift_runs import START, WEEK, JudgeChange, Outcome, two_weeks, watched
from bench.rig.drift_scores import real_scores
from bench.rig.drift_streams import NOISE_TICKS, TICK, Real, Simulated
from bench.rig.options import size_parser
from bench.rig.report import bench_data, finish, progress

SEED = 20
QUIET, NOISY = 0.005, 0.02
WANDERS_TICKS, MOST_WANDERING = 72.0, 3.0
"""A level that wanders for six hours falls for so long: the bar is wider, and is not drift.md's."""
HEALTHY_RATES = (9.0, 30.0, 60.0, 120.0, 300.0, 600.0)
FLEET = 500
SOME = 12
MOST_EARLY = 2.0
"""False alarms per 100 series-weeks in the first weeks of a series, which are not in the bars of
drift.md; a new service must not page, either."""
Found = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Size:
    """How much is simulated: series of each run, weeks before and weeks counted.

    `drops` are the series of a run of drops: medians are known the better, the more there are.
    """

    series: int
    drops: int
    warm_weeks: int
    weeks: int
    is_small: bool = False


FULL = Size(series=150, drops=400, warm_weeks=2, weeks=4)
SMALL = Size(series=12, drops=12, warm_weeks=1, weeks=1, is_small=True)


def rules(series: int = SOME) -> DriftRules:
    """The rules of a fleet of so many series, as the settings have them by default."""
    return DriftRules(threshold=threshold(series, 100, 8))


def upper_rate(alarms: int, series_weeks: float) -> float:
    """Upper 95 % bound of alarms per 100 series-weeks (Poisson, by bisection)."""
    low, high = 0.0, 10.0 + 3 * alarms
    for _ in range(60):
        middle = (low + high) / 2
        terms = (middle**k / math.factorial(k) for k in range(alarms + 1))
        low, high = (middle, high) if math.exp(-middle) * sum(terms) > 0.05 else (low, middle)
    return 100 * high / max(series_weeks, 1e-9)


def median_bounds(minutes: Floats) -> tuple[float, float, float]:
    """Median with its bounds by order statistics, 95 % each side."""
    ordered, n = np.sort(minutes), len(minutes)
    half = 1.645 * math.sqrt(n) / 2
    places = (n / 2 - half, n / 2, n / 2 + half)
    low, middle, high = (float(ordered[min(max(int(place), 0), n - 1)]) for place in places)
    return middle, low, high


def healthy(
    noise: float,
    size: Size,
    seed: int,
    series: int | None = None,
    *,
    noise_ticks: float = NOISE_TICKS,
) -> dict[str, object]:
    """False alarms of routes of all sizes, with the plain threshold beside them."""
    count = series or size.series
    rates = np.resize(np.array(HEALTHY_RATES), count)
    stream = Simulated(np.random.default_rng(seed), rates, noise, noise_ticks=noise_ticks)
    seen = watched(
        stream, count, rules(series or SOME), warm_weeks=size.warm_weeks, weeks=size.weeks
    )
    return _alarms(seen)


def _alarms(seen: Outcome) -> dict[str, object]:
    return {
        "alarms": seen.alarms,
        "series_weeks": round(seen.series_weeks),
        "per_100": round(100 * seen.alarms / seen.series_weeks, 2),
        "upper": round(upper_rate(seen.alarms, seen.series_weeks), 2),
        "first_weeks": {
            "alarms": seen.early,
            "series_weeks": round(seen.early_weeks),
            "upper": round(upper_rate(seen.early, seen.early_weeks), 2),
        },
        "plain_threshold_a_week": round(seen.plain / seen.series_weeks, 2),
    }


def delay(
    rate: float, drop: float, size: Size, seed: int, *, boosts: bool = False
) -> dict[str, object]:
    """Minutes from the onset of a drop to its alarm; the drop ends after two days."""
    rng = np.random.default_rng(seed)
    # The last onset leaves two days to be seen and two to be over.
    onsets = size.warm_weeks * WEEK + rng.integers(0, WEEK, size.drops)
    stream = Simulated(rng, np.full(size.drops, rate), QUIET)
    seen = watched(
        stream, size.drops, rules(), warm_weeks=size.warm_weeks, weeks=1.6, drop=drop,
        onsets=onsets, boosts=boosts, ends_after=2 * 288,
    )  # fmt: skip
    middle, low, high = median_bounds(seen.minutes)
    noticed = seen.episodes > 0
    return {
        "median_minutes": middle,
        "bounds": [low, high],
        "noticed": round(float(np.isfinite(seen.minutes).mean()), 3),
        "episodes": round(float(seen.episodes[noticed].mean()) if noticed.any() else 0.0, 3),
        "boost_cost": round(seen.boost_cost, 3),
    }


def real(size: Size, seed: int) -> dict[str, object] | None:
    """False alarms on block-bootstrapped scores of labelled sets; None without the data."""
    pools = real_scores(bench_data())
    if not pools:
        return None
    # Every set meets every rate; so many series that a bound under the bar allows for four alarms.
    count = size.series if size.is_small else 240
    sets = [list(pools.values())[row // len(HEALTHY_RATES) % len(pools)] for row in range(count)]
    rng = np.random.default_rng(seed)
    stream = Real(rng, np.resize(np.array(HEALTHY_RATES), count), sets)
    seen = watched(stream, count, rules(), warm_weeks=size.warm_weeks, weeks=size.weeks)
    few = min(count, 48)
    dropped = watched(
        Real(rng, np.full(few, 600.0), sets), few, rules(),
        warm_weeks=1, weeks=1, drop=0.1, onsets=WEEK + rng.integers(0, WEEK - 288, few),
    )  # fmt: skip
    middle, low, high = median_bounds(dropped.minutes)
    return {
        **_alarms(seen),
        "sets": {name: len(pool) for name, pool in pools.items()},
        "10 points at 600/h": {"median_minutes": middle, "bounds": [low, high]},
    }


def new_judge(size: Size, seed: int) -> dict[str, object]:
    """Two weeks of twelve series, the judge away for 15 minutes, then another judge.

    Runs with a canary and without one; the most pages of any run, and the longest silence of any
    series.
    """
    runs = 2 if size.is_small else 12
    figures: dict[str, object] = {"runs": runs, "series": SOME, "weeks": 2}
    for name, has_canary in (("canary", True), ("no canary", False)):
        rng = np.random.default_rng((seed, has_canary))
        at = (size.warm_weeks + 1) * WEEK + rng.integers(0, WEEK // 2, runs)
        change = JudgeChange(
            at=np.repeat(at, SOME),
            harsher=np.repeat(rng.uniform(-0.1, 0.1, runs), SOME),
            has_canary=has_canary,
        )
        rates = np.resize(np.array([6.0, 12.0, 30.0, 120.0]), runs * SOME)
        stream = Simulated(rng, rates, QUIET)
        alarms, silence = two_weeks(stream, rules(), change, rng, warm_weeks=size.warm_weeks)
        pages = alarms.reshape(runs, SOME).sum(axis=1)
        figures[name] = {
            "pages_most": int(pages.max()),
            "pages_mean": round(float(pages.mean()), 3),
            "silent_hours_most": round(float(silence.max()), 1),
            "silent_hours_median": round(float(np.median(silence)), 1),
        }
    return figures


def tick_seconds() -> float:
    """Seconds of a tick of FLEET series with scores in all of them; the median of 50."""
    rng = np.random.default_rng(SEED)
    stream = Simulated(rng, np.full(FLEET, 200.0), QUIET)
    states, pool, most = empty(FLEET), np.full(FLEET, -1), np.full(FLEET, np.inf)
    taken = []
    for number in range(50):
        time_of = START + (number + 1) * TICK
        counts = stream.draw(time_of, np.zeros(FLEET), np.ones(FLEET))
        began = time.perf_counter()
        step(states, Tick(time_of, counts, pool, most), rules(FLEET))
        taken.append(time.perf_counter() - began)
    return float(np.median(taken))


DELAYS = (
    ("5 points at 120/h", 120.0, 0.05, False, 680.0),
    ("5 points at 120/h, boosted", 120.0, 0.05, True, 350.0),
    ("5 points at 600/h", 600.0, 0.05, False, 260.0),
    ("10 points at 600/h", 600.0, 0.10, False, 60.0),
)


@dataclass(frozen=True, slots=True)
class Kept:
    """Keeps what each part found as a file of the folder; a rerun reads it."""

    folder: Path | None

    def found(self, name: str, run: Callable[[], Found | None]) -> Found | None:
        """What a part found, now or in an earlier run; None where its data is not there."""
        path = self.folder / f"{name.replace('/', ' ')}.json" if self.folder else None
        if path and path.exists():
            seen: Found | None = json.loads(path.read_text("utf-8"))
        else:
            seen = run()
            if path:
                path.write_text(json.dumps(seen), encoding="utf-8")
        progress(f"{name}: {seen}")
        return seen


def main() -> None:
    """Runs it and prints the JSON line."""
    options = size_parser(__doc__)
    options.add_argument("--folder", type=Path)
    chosen = options.parse_args()
    if chosen.folder:
        chosen.folder.mkdir(parents=True, exist_ok=True)
    size, kept = SMALL if chosen.small else FULL, Kept(chosen.folder)
    figures: dict[str, object] = {"threshold": round(rules().threshold, 2)}
    bars: dict[str, bool] = {}
    _false_alarms(size, kept, figures, bars)
    _delays(size, kept, figures, bars)
    _new_judge(size, kept, figures, bars)
    seconds = tick_seconds()
    figures["tick_ms_500_series"] = round(1000 * seconds, 1)
    if not size.is_small:
        bars["a tick of 500 series <= 1 s"] = seconds <= 1.0
    finish("drift", figures, bars, seed=SEED)


def _false_alarms(
    size: Size, kept: Kept, figures: dict[str, object], bars: dict[str, bool]
) -> None:
    fleet = replace(size, series=FLEET, weeks=1)
    cases: list[tuple[str, float, Callable[[], Found | None]]] = [
        ("no change", 1.0, lambda: healthy(QUIET, size, SEED)),
        ("2-point noise", 2.0, lambda: healthy(NOISY, size, SEED + 1)),
        ("real scores", 1.0, lambda: real(size, SEED + 3)),
    ]
    wanders = partial(healthy, NOISY, size, SEED + 4, noise_ticks=WANDERS_TICKS)
    if not size.is_small:
        cases.append(("500 series", 1.0, lambda: healthy(QUIET, fleet, SEED + 2, FLEET)))
        cases.append(("2 points for six hours", MOST_WANDERING, wanders))
    for name, most, run in cases:
        seen = kept.found(name, run)
        if seen is None:
            continue
        figures[name] = seen
        if size.is_small:
            bars[f"{name}: at most 1 alarm"] = seen["alarms"] <= 1
            continue
        early = seen["first_weeks"]
        bars[f"{name}: upper bound <= {most:g} per 100 series-weeks"] = seen["upper"] <= most
        if most < MOST_WANDERING:
            bars[f"{name}: upper bound of the first weeks <= {MOST_EARLY:g}"] = (
                early["upper"] <= MOST_EARLY
            )


def _delays(size: Size, kept: Kept, figures: dict[str, object], bars: dict[str, bool]) -> None:
    for number, (name, rate, drop, boosts, most) in enumerate(DELAYS):
        run = partial(delay, rate, drop, size, SEED + 10 + number, boosts=boosts)
        seen = kept.found(name, run)
        assert seen is not None
        figures[name] = seen
        # A dozen series prove no median: the small size says that drops are seen at all.
        bound = seen["median_minutes"] if size.is_small else seen["bounds"][1]
        limit = 2 * most if size.is_small else most
        bars[f"{name}: median <= {limit:g} minutes"] = float(bound) <= limit
        bars[f"{name}: episodes per drop <= 1.05"] = seen["episodes"] <= 1.05
        if boosts:
            bars["boost costs <= 1.25 x"] = seen["boost_cost"] <= 1.25


def _new_judge(size: Size, kept: Kept, figures: dict[str, object], bars: dict[str, bool]) -> None:
    judge = kept.found("another judge", lambda: new_judge(size, SEED + 30))
    assert judge is not None
    figures["another judge"] = judge
    for name in ("canary", "no canary"):
        seen = judge[name]
        bars[f"another judge, {name}: 0 or 1 pages"] = seen["pages_most"] <= 1
        bars[f"another judge, {name}: silent <= 24 h"] = seen["silent_hours_most"] <= 24


if __name__ == "__main__":
    main()
