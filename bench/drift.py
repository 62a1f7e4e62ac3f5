"""The detector of sustained drops: false alarms, delays, the cost of boosts, a new judge.

    python bench/drift.py [--small]

Streams have atoms at 0 and 1, a spread of 0.17 to 0.33, days, weekends, a level that moves by 1.5
points with the hour, and noise that lasts an hour. Judged answers an hour are those of a weekday's
mean. Bounds are one-sided, 95 %: of a Poisson count for alarms, of order statistics for medians.
With RAGVIGIL_BENCH_DATA the scores of labelled sets are drawn in blocks, too.
"""

from __future__ import annotations

import math
import sys
import time
from dataclasses import dataclass

import numpy as np

from alerts.drift.detect import DriftRules, Tick, step, threshold
from alerts.drift.state import Floats, empty
from bench.rig.drift_runs import START, WEEK, JudgeChange, Outcome, two_weeks, watched
from bench.rig.drift_scores import real_scores
from bench.rig.drift_streams import TICK, Real, Simulated
from bench.rig.report import bench_data, finish, progress

SEED = 20
QUIET, NOISY = 0.005, 0.02
HEALTHY_RATES = (9.0, 30.0, 60.0, 120.0, 300.0, 600.0)
FLEET = 500
SOME = 12


@dataclass(frozen=True, slots=True)
class Size:
    """How much is simulated: series of each run, weeks before and weeks counted."""

    series: int
    warm_weeks: int
    weeks: int
    is_small: bool = False


FULL = Size(series=150, warm_weeks=2, weeks=4)
SMALL = Size(series=12, warm_weeks=1, weeks=1, is_small=True)


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


def healthy(noise: float, size: Size, seed: int, series: int | None = None) -> dict[str, object]:
    """False alarms of routes of all sizes, with the plain threshold beside them."""
    count = series or size.series
    rates = np.resize(np.array(HEALTHY_RATES), count)
    stream = Simulated(np.random.default_rng(seed), rates, noise)
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
        "plain_threshold_a_week": round(seen.plain / seen.series_weeks, 2),
    }


def delay(
    rate: float, drop: float, size: Size, seed: int, *, boosts: bool = False
) -> dict[str, object]:
    """Minutes from the onset of a drop to its alarm; the drop ends after two days."""
    rng = np.random.default_rng(seed)
    # The last onset leaves two days to be seen and two to be over.
    onsets = size.warm_weeks * WEEK + rng.integers(0, WEEK, size.series)
    stream = Simulated(rng, np.full(size.series, rate), QUIET)
    seen = watched(
        stream, size.series, rules(), warm_weeks=size.warm_weeks, weeks=1.6, drop=drop,
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
    count = min(size.series, 48)
    rng = np.random.default_rng(seed)
    stream = Real(rng, np.resize(np.array(HEALTHY_RATES), count), list(pools.values()))
    seen = watched(stream, count, rules(), warm_weeks=size.warm_weeks, weeks=size.weeks)
    dropped = watched(
        Real(rng, np.full(count, 600.0), list(pools.values())), count, rules(),
        warm_weeks=1, weeks=1, drop=0.1, onsets=WEEK + rng.integers(0, WEEK - 288, count),
    )  # fmt: skip
    middle, low, high = median_bounds(dropped.minutes)
    return {
        **_alarms(seen),
        "sets": {name: len(pool) for name, pool in pools.items()},
        "10 points at 600/h": {"median_minutes": middle, "bounds": [low, high]},
    }


def new_judge(size: Size, seed: int) -> dict[str, object]:
    """Twelve series, an outage of 15 minutes and another judge, with and without a canary."""
    runs = 2 if size.is_small else 12
    figures: dict[str, object] = {"runs": runs}
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


def main() -> None:
    """Runs it and prints the JSON line."""
    size = SMALL if "--small" in sys.argv else FULL
    figures: dict[str, object] = {"threshold": round(rules().threshold, 2)}
    bars: dict[str, bool] = {}
    _false_alarms(size, figures, bars)
    for number, (name, rate, drop, boosts, most) in enumerate(DELAYS):
        seen = delay(rate, drop, size, SEED + 10 + number, boosts=boosts)
        figures[name] = seen
        progress(f"{name}: {seen}")
        # A dozen series prove no median: the small size says that drops are seen at all.
        bound = seen["median_minutes"] if size.is_small else seen["bounds"][1]  # type: ignore[index]
        limit = 2 * most if size.is_small else most
        bars[f"{name}: median <= {limit:g} minutes"] = float(bound) <= limit  # type: ignore[arg-type]
        bars[f"{name}: episodes per drop <= 1.05"] = float(str(seen["episodes"])) <= 1.05
        if boosts:
            bars["boost costs <= 1.25 x"] = float(str(seen["boost_cost"])) <= 1.25
    judge = new_judge(size, SEED + 30)
    figures["another judge"] = judge
    progress(f"another judge: {judge}")
    for name in ("canary", "no canary"):
        seen = judge[name]  # type: ignore[assignment]
        bars[f"another judge, {name}: 0 or 1 pages"] = float(str(seen["pages_most"])) <= 1
        bars[f"another judge, {name}: silent <= 24 h"] = (
            float(str(seen["silent_hours_most"])) <= 24.0
        )
    seconds = tick_seconds()
    figures["tick_ms_500_series"] = round(1000 * seconds, 1)
    if not size.is_small:
        bars["a tick of 500 series <= 1 s"] = seconds <= 1.0
    finish("drift", figures, bars, seed=SEED)


def _false_alarms(size: Size, figures: dict[str, object], bars: dict[str, bool]) -> None:
    fleet = None if size.is_small else FLEET
    cases = (
        ("no change", healthy(QUIET, size, SEED), 1.0),
        ("2-point noise", healthy(NOISY, size, SEED + 1), 2.0),
        ("500 series", healthy(QUIET, Size(FLEET, 2, 1), SEED + 2, fleet) if fleet else None, 1.0),
        ("real scores", real(size, SEED + 3), 1.0),
    )
    for name, seen, most in cases:
        if seen is None:
            continue
        figures[name] = seen
        progress(f"{name}: {seen}")
        if size.is_small:
            bars[f"{name}: at most 1 alarm"] = int(str(seen["alarms"])) <= 1
        else:
            bars[f"{name}: upper bound <= {most:g} per 100 series-weeks"] = (
                float(str(seen["upper"])) <= most
            )


if __name__ == "__main__":
    main()
