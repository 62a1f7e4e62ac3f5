"""Three faults of the example service at a time, and a tenth of others: each gets its own issue.

    .venv/bin/python bench/issues.py [--small] [--seed N] [--combinations N]
    .venv/bin/python bench/issues.py --incidents FAULT ... [--folder DIR] [--seed N]

A daemon knows hours of healthy traffic; then an hour has half of its answers healthy, a tenth with
any of the other faults (background), the rest with one of three. A stand-in judge that reads texts
judges every record. What the API says of issues is held against what each answer had.

With `--incidents` single faults of the second service of `truth.py` run on a virtual clock instead:
how much of a fault is in one issue, how pure, and how soon after the incident (`issue_incidents`).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from bench.rig.issue_incidents import incident_bars, incident_runs
from bench.rig.issue_rig import failing, fill, hour_of
from bench.rig.issue_traffic import Truth, faulty_hour, healthy_hours, templates, threes
from bench.rig.issue_truth import Compared, compare
from bench.rig.judge_stand_in import standing_in
from bench.rig.kept_runs import KeptRuns
from bench.rig.report import finish, progress
from bench.rig.truth_faults import BY_NAME
from bench.rig.truth_pool import Pool
from bench.rig.truth_texts import load_texts
from bench.rig.truth_vectors import Vectors
from ragvigil.app.demo.schedule import Template

MOST_ISSUES, LEAST_PURE = 2, 0.85
REQUESTS_AN_HOUR = 400
EACH = 30
"""Questions of a route of the second service."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How much is run, and how fast. After the hour clusters are made once more.

    A fault has to be found where at least `enough` records fail by it, so soon after the first.
    """

    combinations: int
    history_hours: float
    requests: int
    questions: int
    settle_minutes: float
    factor: float
    enough: int = 25
    longest_minutes: float = 60.0
    seed: int = 31


FULL = Course(
    combinations=7,
    history_hours=3,
    requests=REQUESTS_AN_HOUR,
    questions=200,
    settle_minutes=75,
    factor=30,
)
SMALL = Course(
    combinations=1,
    history_hours=0.2,
    requests=120,
    questions=20,
    settle_minutes=5,
    factor=120,
    enough=8,
    longest_minutes=1e9,
    seed=199,
)


def run(course: Course, known: Mapping[str, Sequence[Template]]) -> dict[str, Compared]:
    """Every combination on a copy of the same history."""
    found: dict[str, Compared] = {}
    with tempfile.TemporaryDirectory() as name, standing_in() as judge:
        filled, ended = Path(name) / "filled", time.time_ns()
        answers = healthy_hours(
            known,
            ends=ended,
            hours=course.history_hours,
            per_hour=REQUESTS_AN_HOUR,
            seed=course.seed,
        )
        history = fill(filled, judge, answers, seed=course.seed)
        progress(f"{len(history)} healthy answers")
        for three in threes(course.seed, course.combinations):
            folder = Path(name) / "-".join(three)
            hour = _hour(course, known, three, folder, judge, (filled, ended), history)
            found[" ".join(three)] = hour
            progress(str(asdict(hour)))
    return found


def _hour(
    course: Course,
    known: Mapping[str, Sequence[Template]],
    three: Sequence[str],
    folder: Path,
    judge: str,
    past: tuple[Path, int],
    history: Mapping[str, Truth],
) -> Compared:
    filled, ended = past
    with hour_of(filled, folder, judge, ended=ended / 1e9, factor=course.factor) as rig:
        answers = faulty_hour(known, three, starts=rig.clock.now_nanos(),
                              requests=course.requests, seed=course.seed)  # fmt: skip
        truths = rig.send(answers, seed=course.seed)
        rig.settle(course.settle_minutes)
        issues = rig.issues()
    return compare(three, {**history, **truths}, failing(folder), issues, truths.keys())


def figures_of(
    found: Mapping[str, Compared], course: Course
) -> tuple[dict[str, object], dict[str, bool]]:
    """What is printed, and which bars hold."""
    of_faults = [
        fault for hour in found.values() for fault in hour.faults if fault.failing >= course.enough
    ]
    grouped = sum(hour.grouped for hour in found.values())
    pure = sum(hour.pure for hour in found.values())
    background = sum(hour.background for hour in found.values())
    figures: dict[str, object] = {
        "hours": {name: asdict(hour) for name, hour in found.items()},
        "purity": round(pure / grouped, 3) if grouped else None,
        "background_failing": background,
        "background_in_issues": round(
            sum(hour.background_grouped for hour in found.values()) / max(1, background), 3
        ),
        "faults_that_count": len(of_faults),
        "without_issue": [fault.fault for fault in of_faults if not fault.issues],
    }
    bars = {
        f"every fault with >= {course.enough} failing records has an issue within an hour": bool(
            of_faults
        )
        and all(
            fault.minutes is not None and fault.minutes <= course.longest_minutes
            for fault in of_faults
        ),
        f"purity >= {LEAST_PURE}": grouped > 0 and pure >= LEAST_PURE * grouped,
        f"issues a fault <= {MOST_ISSUES}": all(fault.issues <= MOST_ISSUES for fault in of_faults),
    }
    return figures, bars


def of_incidents(
    names: Sequence[str], folder: Path, *, seed: int
) -> tuple[dict[str, object], dict[str, bool]]:
    """Faults of the second service, one after another; texts and the healthy store are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    pool = Pool(load_texts(each=EACH), Vectors(folder / "vectors.npz", is_real=True))
    healthy, ended = KeptRuns(pool=pool, folder=folder, seed=seed).healthy(0)
    runs = []
    faults = [BY_NAME[name] for name in names]
    for result in incident_runs(pool, healthy, faults, ended=ended, seed=seed):
        runs.append(result)
        progress(str(result))
    pool.vectors.close()
    return {"runs": [asdict(result) for result in runs]}, incident_bars(runs)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--incidents", nargs="+", choices=list(BY_NAME))
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "incidents")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--combinations", type=int)
    options = parser.parse_args()
    if options.incidents:
        seed = options.seed or SMALL.seed
        figures, bars = of_incidents(options.incidents, options.folder, seed=seed)
        finish("issues", figures, bars, seed=seed)
        return
    del options.incidents, options.folder
    given = {key: value for key, value in vars(options).items() if key != "small" and value}
    course = replace(SMALL if options.small else FULL, **given)
    figures, bars = figures_of(run(course, templates(course.questions)), course)
    finish("issues", asdict(course) | figures, bars, seed=course.seed)


if __name__ == "__main__":
    main()
