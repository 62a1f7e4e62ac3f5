"""How fast an audit confirms a drop, and how often it confirms one that is none.

    python bench/audits.py [--small] [--seed N]

400 requests an hour over 5 routes; judged scores with atoms at 0 and 1 and a deviation of 0.17 to
0.33, on 20 topics that do or do not score differently. Each run is one change: its audit looks
every two minutes, through the functions of the product, for six hours at most. Without a change:
as it is, with other topics after than before, and with levels that wander by 2
points, on each route by itself and on all together.
"""

from __future__ import annotations

import time

import numpy as np

from alerts.audits.confidence import could_show
from alerts.audits.decide import Plan
from bench.rig.audited_changes import (
    MEANS,
    ROUTES,
    RUBRICS,
    TOPIC_DEVIATION,
    TOPICS,
    Ended,
    Questions,
    World,
    asked,
    run,
    traffic,
)
from bench.rig.options import size_parser
from bench.rig.report import finish, progress
from ragvigil.model.audit import AuditState

SEED = 41
RUNS, SMALL_RUNS = 2_000, 20
LARGE = Plan(first=RUBRICS, records=1_000)
"""For 5 points, beside the default of 300 records a side."""
DROPS = ((0.10, Plan(first=RUBRICS)), (0.05, Plan(first=RUBRICS)), (0.05, LARGE))
"""Only the first has a bar."""
ALPHA = 0.005


def quiet(runs: list[Ended]) -> dict[str, object]:
    """What audits of no change said."""
    states = [state for audited in runs for state in audited.states]
    return {
        "confirmed": round(sum(bool(audited.confirmed) for audited in runs) / len(runs), 4),
        "ruled_out": round(states.count(AuditState.STEADY) / len(states), 3),
        "median_pairs": float(np.median([audited.pairs for audited in runs])),
        "median_minutes": float(np.median([audited.minutes for audited in runs])),
    }


def dropped(runs: list[Ended], rubric: str) -> dict[str, object]:
    """Minutes until a drop of this rubric was confirmed; None where too many were not."""
    minutes = [audited.confirmed.get(rubric, float("inf")) for audited in runs]
    median, most = (float(np.quantile(minutes, q, method="higher")) for q in (0.5, 0.9))
    return {
        "confirmed": round(float(np.isfinite(minutes).mean()), 3),
        "median_minutes": median if np.isfinite(median) else None,
        "p90_minutes": most if np.isfinite(most) else None,
        "median_pairs": float(np.median([audited.pairs for audited in runs])),
    }


def within(minutes: object, most: float) -> bool:
    """Whether so many audits were that fast at all."""
    return isinstance(minutes, float) and minutes <= most


NO_CHANGE = {
    "as_it_is": World(),
    "no_topics": World(has_topics=False),
    "other_mix": World(other_mix=True),
    "wander": World(wander=0.02),
    "wander_other_mix": World(wander=0.02, other_mix=True),
}
WORSE = {
    "wander_shared": World(wander=0.02, is_shared=True),
    "new_topic": World(new_topic=True),
}
"""Shown without a bar: the level of all routes did move; nothing that was asked before compares."""


def drops(size: float) -> dict[str, tuple[World, str]]:
    """Worlds in which one rubric falls, with and without topics."""
    worlds: dict[str, tuple[World, str]] = {}
    for place, rubric in enumerate(RUBRICS):
        drop = (size, 0.0) if place == 0 else (0.0, size)
        for named, has_topics in (("topics", True), ("no_topics", False)):
            worlds[f"{rubric}_{named}"] = (World(drop=drop, has_topics=has_topics), rubric)
    return worlds


def deviations(rng: np.random.Generator) -> dict[str, object]:
    """Deviation of the scores by rubric, with and without topics, before and after 10 points."""
    told: dict[str, object] = {}
    for named, spread in (("topics", TOPIC_DEVIATION), ("no_topics", 0.0)):
        level = np.array(MEANS) + rng.normal(0, spread, (TOPICS, 2)) * np.array([1.0, 0.6])
        mix = np.full(TOPICS, 1 / TOPICS)
        for drop in (0.0, 0.1):
            moved = np.full((ROUTES, 2), -drop)
            found = traffic(rng, mix, level, moved, 20_000).scores
            told[f"{named}_{drop}"] = [
                round(float(deviation), 3) for deviation in found.std(axis=0)
            ]
    return told


def table() -> dict[str, list[float]]:
    """Points that so many pairs show, by the bound of one rubric; unmatched, and matched."""
    return {
        str(n): [round(100 * could_show(n, var, ALPHA), 1) for var in (2 * 0.27**2, 0.27**2)]
        for n in (100, 200, 300, 400, 600)
    }


def falls(
    rng: np.random.Generator, questions: Questions, size: float, plan: Plan, count: int
) -> tuple[dict[str, object], dict[str, bool]]:
    """Figures of drops of one size, and whether they were found fast enough."""
    figures: dict[str, object] = {}
    bars: dict[str, bool] = {}
    for name, (world, rubric) in drops(size).items():
        told = dropped([run(rng, questions, world, plan) for _ in range(count)], rubric)
        figures[f"drop_{size:.2f}_{name}_of_{plan.records}"] = told
        progress(f"{size} {name}, {plan.records} records a side: {told}")
        points = f"{name}: {100 * size:.0f} points"
        bars[f"{points}, median <= 45 min"] = within(told["median_minutes"], 45)
        bars[f"{points}, p90 <= 90 min"] = within(told["p90_minutes"], 90)
    return figures, bars


def main() -> None:
    """Runs it and prints the JSON line."""
    parser = size_parser(__doc__)
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args()
    runs = SMALL_RUNS if given.small else RUNS
    rng = np.random.default_rng(given.seed)
    questions = asked(rng)
    plan = Plan(first=RUBRICS)
    began = time.process_time()
    figures: dict[str, object] = {
        "runs": runs,
        "deviations": deviations(rng),
        "points_shown": table(),
    }
    bars: dict[str, bool] = {}
    # A false confirmation or two in 20 runs are no proof against 1 %; three are.
    most = 0.01 if runs >= 300 else 2.5 / runs
    for name, world in (NO_CHANGE | WORSE).items():
        told = quiet([run(rng, questions, world, plan) for _ in range(runs)])
        figures[f"no_change_{name}"] = told
        progress(f"{name}: {told}")
        if name in NO_CHANGE:
            bars[f"{name}: false confirmations <= 1 %"] = float(str(told["confirmed"])) <= most
    for size, plan in DROPS[:1] if given.small else DROPS:
        count = max(SMALL_RUNS, runs // 5)
        found, held = falls(rng, questions, size, plan, count)
        figures |= found
        bars |= held if size == 0.10 else {}
    figures["cpu_seconds"] = round(time.process_time() - began, 1)
    finish("audits", figures, bars, seed=given.seed)


if __name__ == "__main__":
    main()
