"""Does the gate leave an unchanged service alone, and stop real falls?

    .venv/bin/python bench/gate.py [--small]

Paired runs of made-up sets (`rig/paired_runs.py`): the same service twice, then with one rubric
lower by ten points, over all cases or in one topic. Limits as shipped. `cannot_say` beside each:
a fall that the gate neither stops nor passes.
"""

from __future__ import annotations

from collections import Counter
from random import Random

from bench.rig.options import parse_small
from bench.rig.paired_runs import LIVELY, STEADY, fallen, make_cases, run_set
from bench.rig.report import finish, progress
from ragvigil.evaluation.gate.decide import Gate, State, decide
from ragvigil.evaluation.gate.limits import GateSettings

SEED = 20
CASES = 120
FALL = 0.10
RUBRICS = ("groundedness", "recall@10", "citation_validity", "mrr", "answer_relevance")
NOISE = {"steady": STEADY, "lively": LIVELY}
MOST_FALSE = 0.01
"""Share of the runs of an unchanged service that may be stopped; of 20 in a row, none."""
LEAST_POWER = 0.8


def unchanged(runs: int, cases: int, anew: float) -> dict[str, int]:
    """The gate's states over pairs of runs of an unchanged service."""
    seeds = range(SEED, SEED + runs)
    states = Counter(_gate(cases, seed, anew=anew).state for seed in seeds)
    return {state.value: states[state] for state in State}


def in_a_row(runs: int, cases: int) -> list[State]:
    """One base, and run after run of the same service against it."""
    made = make_cases(cases, Random(SEED))
    base = run_set(made, SEED, SEED)
    return [
        decide(base, run_set(made, SEED, SEED + 1 + turn), GateSettings()).state
        for turn in range(runs)
    ]


def stopped(rubric: str, runs: int, cases: int, *, topic: str = "") -> dict[str, float]:
    """The share of runs with a real fall that are stopped, that name it, and that cannot say."""
    gates = [_gate(cases, seed, rubric=rubric, topic=topic) for seed in range(SEED, SEED + runs)]
    names = [[(each.rubric, each.slice) for each in gate.worse] for gate in gates]
    where = ("topic", topic) if topic else ("", "")
    return {
        "blocked": _share([gate.state is State.WORSE for gate in gates]),
        "named": _share([(rubric, where) in each for each in names]),
        "cannot_say": _share([gate.state is State.CANNOT_SAY for gate in gates]),
    }


def _gate(
    cases: int, seed: int, *, rubric: str = "", topic: str = "", anew: float = STEADY
) -> Gate:
    made = make_cases(cases, Random(seed))
    base, new = (run_set(made, seed, 2 * seed + turn, anew) for turn in range(2))
    if rubric:
        size = 3 * FALL if topic else FALL
        new = fallen(new, rubric, size, Random(seed), topic=topic)
    return decide(base, new, GateSettings())


def _share(hits: list[bool]) -> float:
    return round(sum(hits) / len(hits), 4)


def main() -> None:
    """Measures false stops and power; the small size only that both are sane."""
    small = parse_small(__doc__)
    runs = 20 if small else 300
    steady = {name: unchanged(runs, CASES, anew) for name, anew in NOISE.items()}
    progress(f"unchanged: {steady}")
    row = in_a_row(20, CASES)
    power = {}
    for rubric in RUBRICS[:2] if small else RUBRICS:
        power[rubric] = stopped(rubric, runs // 2, CASES)
        progress(f"{rubric}: {power[rubric]}")
    sliced = stopped("groundedness", runs // 2, 2 * CASES, topic="refunds")
    figures = {
        "cases": CASES,
        "runs": runs,
        "unchanged": steady,
        "twenty_in_a_row_stopped": row.count(State.WORSE),
        "fall_of_ten_points": power,
        "topic_falls_thirty_points": {"cases": 2 * CASES, **sliced},
    }
    bars = {
        f"unchanged stopped <= {MOST_FALSE}": all(
            states["worse"] <= MOST_FALSE * runs for states in steady.values()
        ),
        "twenty in a row: 0 stopped": State.WORSE not in row,
        f"groundedness and recall@10 blocked >= {LEAST_POWER}": all(
            power[rubric]["blocked"] >= LEAST_POWER for rubric in RUBRICS[:2]
        ),
    }
    finish("gate", figures, bars, seed=SEED)


if __name__ == "__main__":
    main()
