"""The watch on the help desk: each of its ten faults noticed, paged, of the right layer?

    .venv/bin/python bench/faults.py [--small] [--seed N] [--only FAULT ...] [--runs N]
                                     [--minutes N] [--folder DIR] [--write docs/verdicts.md]

Every question is asked once of the example service, healthy and with each fault. Its records are
scored by the real scorers, written as the daemon writes them, and watched by the real watch on a
virtual clock; the judge sees texts alone, and errs in a tenth of its verdicts. Every other run of a
fault is on one route, the rest are on all. The bars are those of `truth.py`, and one on suspects.

A run takes some 25 s of a CPU. None begins after `--minutes`; results are kept in `--folder`, and a
rerun goes on from them: give a new folder after a change of the code. `--small` needs no data.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import structlog

from bench.rig.faults_pool import DIMENSIONS, DeskPool
from bench.rig.kept_runs import ONSETS, KeptRuns
from bench.rig.matrices import write_part
from bench.rig.options import size_parser
from bench.rig.report import finish, progress
from bench.rig.truth_faults import Fault
from bench.rig.truth_figures import Figures, of_runs, part_of
from bench.rig.truth_runs import Plan, RunResult, rehearse
from bench.rig.truth_vectors import Vectors
from examples.helpdesk.faults import Fault as Switch

SEED = 31
RUNS, EACH, SMALL_EACH = 20, 20, 3
FIRST_SUSPECT = 0.80
SMALL_FAULT = Switch.TRUNCATION
SMALL_HOURS = 3.0
DOCUMENT_PART = "help desk"


def runs(
    kept: KeptRuns, faults: Sequence[Fault], *, count: int, minutes: float
) -> Iterator[RunResult]:
    """The runs of every fault that there is time for, and those that are kept."""
    known = {(one.fault, one.onset): one for one in kept.kept("runs", RunResult, _frozen)}
    ends, routes = time.monotonic() + 60 * minutes, list(kept.pool.texts.corpora)
    for number in range(count):
        for place, fault in enumerate(faults):
            key = (fault.name, number)
            if key not in known and time.monotonic() < ends:
                healthy, ended = kept.healthy(number // 2 % len(ONSETS))
                known[key] = rehearse(
                    kept.pool,
                    healthy,
                    fault,
                    ended=ended,
                    onset=number,
                    route=routes[(number // 2 + place) % len(routes)] if number % 2 else "",
                    seed=kept.seed + 1000 * number + 10 * place,
                )
                kept.keep("runs", known[key])
                progress(known[key].line)
            if key in known:
                yield known[key]


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def of_suspects(found: Sequence[RunResult]) -> Figures:
    """How often the change that spans state is the first suspect of the incident."""
    firsts = [
        bool(result.suspects) and result.suspects[0] in DIMENSIONS[result.fault]
        for result in found
        if result.fault in DIMENSIONS and result.layers
    ]
    share = round(sum(firsts) / len(firsts), 3) if firsts else None
    return {"first_suspect": share}, {
        f"the change is the first suspect: >= {FIRST_SUSPECT}": share is None
        or share >= FIRST_SUSPECT
    }


def small(seed: int) -> Figures:
    """One fault that must page, on few questions."""
    with tempfile.TemporaryDirectory() as name:
        vectors = Vectors(None, is_real=False)
        pool = DeskPool(vectors, each=SMALL_EACH, switches=(SMALL_FAULT,))
        kept = KeptRuns(pool=pool, folder=Path(name), seed=seed)
        healthy, ended = kept.healthy(0, hours=SMALL_HOURS)
        fault, plan = pool.fault(SMALL_FAULT), Plan(fault_minutes=20, after_minutes=0)
        found = rehearse(pool, healthy, fault, ended=ended, onset=0, seed=seed, plan=plan)
    figures, bars = of_suspects([found])
    bars |= {
        "truncation pages once": found.must_page and found.pages == 1,
        "truncation is of generation": found.layer == "generation",
    }
    return {"run": asdict(found), **figures}, bars


def full(options: argparse.Namespace) -> Figures:
    """The faults that were asked for, as often as asked for."""
    options.folder.mkdir(parents=True, exist_ok=True)
    vectors = Vectors(options.folder / "vectors.npz", is_real=True)
    switches = tuple(Switch(name) for name in options.only)
    pool = DeskPool(vectors, each=options.each, switches=switches)
    kept = KeptRuns(pool=pool, folder=options.folder, seed=options.seed)
    effects = {switch.value: pool.effect(switch).because for switch in switches}
    progress(f"what the faults do: {effects}")
    faults = [pool.fault(switch) for switch in switches]
    found = list(runs(kept, faults, count=options.runs, minutes=options.minutes))
    vectors.close()
    figures, bars = of_runs(found, {})
    suspects, held = of_suspects(found)
    figures |= {**suspects, "effects": effects}
    if options.write:
        write_part(options.write, DOCUMENT_PART, part_of(found, figures))
    return figures, bars | held


def main() -> None:
    """Runs it and prints the JSON line."""
    parser = size_parser(__doc__)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", nargs="+", choices=list(Switch), default=list(Switch))
    parser.add_argument("--runs", type=int, default=RUNS, help="runs of every fault")
    parser.add_argument("--each", type=int, default=EACH, help="questions of a route")
    parser.add_argument("--minutes", type=float, default=120.0, help="no run begins later")
    parser.add_argument("--write", type=Path, help="the document that gets the matrix")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "faults")
    options = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    figures, bars = small(options.seed) if options.small else full(options)
    finish("faults", figures, bars, seed=options.seed)


if __name__ == "__main__":
    main()
