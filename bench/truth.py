"""The watch on a service that nobody tuned it to: each fault noticed, paged, of the right layer?

    .venv/bin/python bench/truth.py [--small] [--seed N] [--part faults pairs habits days old]
                                    [--only FAULT ...] [--onsets N ...] [--scope all one]
                                    [--pairs N] [--habits HABIT ...] [--days N]
                                    [--folder DIR] [--write docs/verdicts.md]

Four routes of texts from labelled sets, retrieved, reranked and answered by a service of our own
(truth_service.py), whose 22 faults (truth_faults.py) each begin on a copy of a store with healthy
traffic. Records are scored by the real scorers, written as the daemon writes them, and watched by
the real watch on a virtual clock; a judge answers from labels with 10 % noise. Pairs are two faults
one after the other, habits healthy days of uneven traffic, days the same before the detectors alone
(weeks in minutes: no store, no audits), old a fault from before the beginning.

A run of a fault takes some 25 s of a CPU, so the defaults, the first two onsets, are an hour;
`--onsets 0 1 2 3 4 --days 28` is everything. Results are kept in `--folder`, and a rerun goes on
from them: give a new folder after a change of the code. `--small` needs neither data nor model.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import structlog

from bench.rig.kept_runs import DAYS_HOURS, HISTORY_HOURS, ONSETS, KeptRuns
from bench.rig.matrices import write_part
from bench.rig.options import size_parser
from bench.rig.report import finish, progress
from bench.rig.truth_clock import fill
from bench.rig.truth_faults import BY_NAME, FAULTS
from bench.rig.truth_figures import Figures, of_days, of_habits, of_pairs, of_runs, part_of
from bench.rig.truth_habits import HABITS, HabitResult, live
from bench.rig.truth_minutes import DaysResult, healthy_days
from bench.rig.truth_pairs import Pair, PairResult, chosen, rehearse_pair
from bench.rig.truth_pool import Pool
from bench.rig.truth_runs import ALL, OldResult, Plan, RunResult, rehearse, rehearse_old
from bench.rig.truth_texts import load_texts
from bench.rig.truth_traffic import DAY, HOUR
from bench.rig.truth_vectors import Vectors

EACH, SMALL_EACH = 60, 14
SMALL_FAULTS = ("truncation", "route_times_three")
OLD = "citations_off_by_one"
DOCUMENT_PART = "second service"
Lived = TypeVar("Lived", HabitResult, DaysResult)
PARTS = ("faults", "old", "pairs", "habits", "days")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The pool, what is kept of runs, and what was asked for."""

    pool: Pool
    kept: KeptRuns
    options: argparse.Namespace

    def runs(self) -> Iterator[RunResult]:
        """Every fault at every onset, on all routes and on one."""
        options, routes = self.options, list(self.pool.texts.corpora)
        known = {
            (result.fault, result.onset, result.scope): result
            for result in self.kept.kept("runs", RunResult, _frozen)
        }
        plan = Plan(fault_minutes=options.fault_minutes, turn_minutes=options.turn_minutes)
        for place in options.onsets:
            for number, fault in enumerate(FAULTS):
                for scope in options.scope:
                    if fault.name not in options.only:
                        continue
                    route = routes[(number + place) % len(routes)] if scope == "one" else ""
                    key = (fault.name, place, route or ALL)
                    if key not in known:
                        hours = DAYS_HOURS if fault.traffic < 1 else HISTORY_HOURS
                        healthy, ended = self.kept.healthy(place, hours=hours)
                        known[key] = rehearse(
                            self.pool,
                            healthy,
                            fault,
                            ended=ended,
                            onset=place,
                            route=route,
                            plan=plan,
                            seed=options.seed + 1000 * place + 10 * number,
                        )
                        self.kept.keep("runs", known[key])
                        progress(known[key].line)
                    yield known[key]

    def harm(self) -> dict[str, float]:
        """The share of answers that each fault makes worse, of those that it meets at all."""
        return {name: self.pool.harm(name) for name in self.options.only}

    def pairs(self) -> Iterator[PairResult]:
        """Some of the pairs of faults."""
        known = {result.pair: result for result in self.kept.kept("pairs", PairResult, _frozen)}
        routes, seed = list(self.pool.texts.corpora), self.options.seed
        for pair in chosen(routes, count=self.options.pairs, seed=seed):
            if pair not in known:
                healthy, ended = self.kept.healthy(0)
                known[pair] = rehearse_pair(self.pool, healthy, pair, ended=ended, seed=seed)
                self.kept.keep("pairs", known[pair])
                progress(str(known[pair]))
            yield known[pair]

    def habits(self) -> Iterator[HabitResult]:
        """Healthy days of every habit."""
        return self._each_habit("habits", HabitResult, live)

    def days(self) -> Iterator[DaysResult]:
        """Healthy days of every habit before the detectors alone."""
        return self._each_habit("days", DaysResult, healthy_days)

    def _each_habit(
        self, part: str, form: type[Lived], of: Callable[..., Lived]
    ) -> Iterator[Lived]:
        known = {result.habit: result for result in self.kept.kept(part, form, _frozen)}
        for name in self.options.habits:
            if name not in known:
                known[name] = of(
                    self.pool,
                    name,
                    days=self.options.days,
                    history_hours=HISTORY_HOURS,
                    seed=self.options.seed,
                )
                self.kept.keep(part, known[name])
                progress(str(known[name]))
            yield known[name]


def _frozen(value: Any) -> Any:
    """A value as it was before it became JSON."""
    if isinstance(value, dict):
        return Pair(**{key: _frozen(entry) for key, entry in value.items()})
    return tuple(value) if isinstance(value, list) else value


def of_old(old: OldResult) -> Figures:
    """One page, that says since when."""
    is_right = old.pages == 1 and old.incidents == 1 and old.since_minutes is not None
    is_early = is_right and abs(old.since_minutes or 0.0) <= 60
    return asdict(old), {"a fault from before the first span: one page, its true since": is_early}


def of_faults(
    found: Sequence[RunResult], harm: Mapping[str, float], document: Path | None
) -> Figures:
    """The figures of the faults; a document gets their matrix."""
    figures, bars = of_runs(found, harm)
    if document is not None:
        write_part(document, DOCUMENT_PART, part_of(found, figures))
    return figures, bars


def small(seed: int) -> Figures:
    """Two faults on few texts: one that must page, and one that is none."""
    with tempfile.TemporaryDirectory() as name:
        healthy = Path(name) / "healthy"
        pool = Pool(load_texts(each=SMALL_EACH, small=True), Vectors(None, is_real=False))
        ended = (time.time() // DAY - 1) * DAY + ONSETS[0] * HOUR
        fill(pool, healthy, start=ended - 3 * HOUR, end=ended, seed=seed)
        plan = Plan(fault_minutes=20, after_minutes=0)
        loud, quiet = (
            rehearse(pool, healthy, BY_NAME[fault], ended=ended, onset=0, seed=seed, plan=plan)
            for fault in SMALL_FAULTS
        )
    bars = {
        "truncation pages once": loud.pages == 1,
        "truncation is of generation": loud.layer == "generation",
        "more requests of a route page nobody": not quiet.pages,
    }
    return {"runs": [asdict(loud), asdict(quiet)]}, bars


def full(options: argparse.Namespace) -> Figures:
    """The parts that were asked for."""
    options.folder.mkdir(parents=True, exist_ok=True)
    vectors = Vectors(options.folder / "vectors.npz", is_real=True)
    pool = Pool(load_texts(each=options.each), vectors)
    kept = KeptRuns(pool=pool, folder=options.folder, seed=options.seed)
    bench = Bench(pool=pool, kept=kept, options=options)
    figures: dict[str, object] = {}
    bars: dict[str, bool] = {}
    parts = {
        "faults": lambda: of_faults(list(bench.runs()), bench.harm(), options.write),
        "old": lambda: of_old(rehearse_old(pool, BY_NAME[OLD], seed=options.seed)),
        "pairs": lambda: of_pairs(list(bench.pairs())),
        "habits": lambda: of_habits(list(bench.habits())),
        "days": lambda: of_days(list(bench.days())),
    }
    for name in options.part:
        figures[name], held = parts[name]()
        bars |= held
    vectors.close()
    return figures, bars


def main() -> None:
    """Runs it and prints the JSON line."""
    parser = size_parser(__doc__)
    parser.add_argument("--seed", type=int, default=29)
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--only", nargs="+", choices=list(BY_NAME), default=list(BY_NAME))
    parser.add_argument("--onsets", nargs="+", type=int, choices=range(len(ONSETS)), default=[0, 1])
    parser.add_argument("--scope", nargs="+", choices=("all", "one"), default=("all", "one"))
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--days", type=float, default=7.0, help="healthy days of every habit")
    parser.add_argument("--habits", nargs="+", choices=list(HABITS), default=list(HABITS))
    parser.add_argument("--each", type=int, default=EACH, help="questions of a route")
    parser.add_argument("--fault-minutes", type=int, default=90)
    parser.add_argument("--turn-minutes", type=int, default=1)
    parser.add_argument("--write", type=Path, help="the document that gets the matrix of faults")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "truth")
    options = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    figures, bars = small(options.seed) if options.small else full(options)
    finish("truth", figures, bars, seed=options.seed)


if __name__ == "__main__":
    main()
