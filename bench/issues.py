"""Three faults of the example service at a time, and a tenth of others: each gets its own issue.

    .venv/bin/python bench/issues.py [--small] [--seed N] [--combinations N]
    .venv/bin/python bench/issues.py --incidents FAULT ... [--desk] [--folder DIR] [--seed N]
    .venv/bin/python bench/issues.py --healthy DAYS [--desk] [--folder DIR] [--seed N]

A daemon knows hours of healthy traffic; then an hour has half of its answers healthy, a tenth with
any of the other faults (background), the rest with one of three. A stand-in judge that reads texts
judges every record. What the API says of issues is held against what each answer had.

With `--incidents` single faults of the second service of `truth.py` run on a virtual clock instead:
how much of a fault is in one issue, how pure, and how soon after the incident (`issue_incidents`).
With `--healthy` nothing is wrong: what opens an issue or is a ticket all the same (`issue_weeks`).
`--desk` takes the help desk and its faults; every service has a folder of its own.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TypeAlias

from bench.rig.faults_pool import DeskPool
from bench.rig.issue_incidents import incident_bars, incident_runs
from bench.rig.issue_rig import failing, fill, hour_of
from bench.rig.issue_traffic import Truth, faulty_hour, healthy_hours, templates, threes
from bench.rig.issue_truth import Compared, compare
from bench.rig.issue_weeks import MOST_TICKETS, rehearse_healthy
from bench.rig.judge_stand_in import standing_in
from bench.rig.kept_runs import KeptRuns
from bench.rig.options import size_parser
from bench.rig.report import finish, progress
from bench.rig.scored_pool import ScoredPool
from bench.rig.truth_faults import BY_NAME, Fault
from bench.rig.truth_pool import Pool
from bench.rig.truth_texts import load_texts
from bench.rig.truth_vectors import Vectors
from examples.helpdesk.faults import Fault as Switch
from ragvigil.app.demo.schedule import Template

MOST_ISSUES, LEAST_PURE = 2, 0.85
REQUESTS_AN_HOUR = 400
EACH, DESK_EACH = 30, 20
"""Questions of a route of the second service, and of the help desk."""
Bars: TypeAlias = dict[str, bool]


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


@contextmanager
def _pool_of(options: argparse.Namespace) -> Iterator[ScoredPool]:
    """The answers of the service that was asked for; their vectors are kept."""
    options.folder.mkdir(parents=True, exist_ok=True)
    vectors = Vectors(options.folder / "vectors.npz", is_real=True)
    try:
        if options.desk:
            switches = tuple(Switch(name) for name in options.incidents or ())
            yield DeskPool(vectors, each=DESK_EACH, switches=switches)
        else:
            yield Pool(load_texts(each=EACH), vectors)
    finally:
        vectors.close()


def _fault(pool: ScoredPool, name: str) -> Fault:
    return pool.fault(Switch(name)) if isinstance(pool, DeskPool) else BY_NAME[name]


def of_incidents(options: argparse.Namespace, seed: int) -> tuple[dict[str, object], Bars]:
    """Faults of a service, one after another; texts and the healthy store are kept."""
    runs = []
    with _pool_of(options) as pool:
        healthy, ended = KeptRuns(pool=pool, folder=options.folder, seed=seed).healthy(0)
        faults = [_fault(pool, name) for name in options.incidents]
        for result in incident_runs(pool, healthy, faults, ended=ended, seed=seed):
            runs.append(result)
            progress(str(result))
    return {"runs": [asdict(result) for result in runs]}, incident_bars(runs)


def of_healthy_days(options: argparse.Namespace, seed: int) -> tuple[dict[str, object], Bars]:
    """Days of a service that nothing is wrong with, after its first day."""
    service = "help desk" if options.desk else "second service"
    with _pool_of(options) as pool:
        healthy, ended = KeptRuns(pool=pool, folder=options.folder, seed=seed).healthy(0)
        found = rehearse_healthy(
            service, pool, healthy, ended=ended, days=options.healthy, seed=seed
        )
    bar = f"issue tickets of healthy days <= {MOST_TICKETS:g} a week"
    return asdict(found), {bar: found.is_good}


def main() -> None:
    parser = size_parser(__doc__)
    parser.add_argument("--incidents", nargs="+", choices=[*BY_NAME, *Switch])
    parser.add_argument("--healthy", type=float, help="days without a fault")
    parser.add_argument("--desk", action="store_true", help="of the help desk")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "incidents")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--combinations", type=int)
    options = parser.parse_args()
    if options.incidents or options.healthy:
        seed = options.seed or SMALL.seed
        part = of_incidents if options.incidents else of_healthy_days
        figures, bars = part(options, seed)
        finish("issues", figures, bars, seed=seed)
        return
    for name in ("incidents", "healthy", "desk", "folder"):
        delattr(options, name)
    given = {key: value for key, value in vars(options).items() if key != "small" and value}
    course = replace(SMALL if options.small else FULL, **given)
    figures, bars = figures_of(run(course, templates(course.questions)), course)
    finish("issues", asdict(course) | figures, bars, seed=course.seed)


if __name__ == "__main__":
    main()
