"""The watch, end to end: what is noticed, what pages, how soon, and what stays quiet.

    .venv/bin/python bench/watch.py [--small] [--seed N] [--factor 60] [--only PART ...]
                                    [--fault NAME ...] [--real-time NAME]

Parts: notices, signals and audits are simulations and benchmarks of their own (notices.py,
signals.py, audits.py), run here with the same seed. Faults: each fault of the example service on
all routes, through real processes at one clock (watch_rig.py), each on a copy of a store that holds
days of healthy traffic: the daemon, the service, a judge that reads texts, Prometheus,
Alertmanager. `--real-time` runs one fault at factor 1, which takes hours.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from bench.rig.options import size_parser
from bench.rig.report import finish, progress
from bench.rig.watch_expected import Truth, truths
from bench.rig.watch_faults import Rehearsed, fill, rehearse
from bench.rig.watch_rig import Missing
from examples.helpdesk.faults import Fault
from ragvigil.app.process.tied import run_tied

HERE = Path(__file__).resolve().parent
SIMULATED = ("notices", "signals", "audits")
FULL, SMALL = (*SIMULATED, "faults"), ("faults",)
"""The simulations are run at their small size by themselves."""
SMALL_FAULT = Truth(fault=Fault.FABRICATED_QUOTES, change={}, rates={"citation_validity:failed": 1})
DAYS, SMALL_DAYS = 3.0, 0.25
Part = tuple[dict[str, object], dict[str, bool]]


def simulated(name: str, seed: int) -> Part:
    """A benchmark of its own, with its figures and bars."""
    progress(f"{name}.py")
    command = [sys.executable, str(HERE / f"{name}.py"), "--seed", str(seed)]
    done = run_tied(command, seconds=None, stderr=None)
    found = json.loads(done.stdout.splitlines()[-1])
    bars = {f"{name}: {bar}": held for bar, held in found.pop("bars").items()}
    return found, bars


def faults(
    wanted: Sequence[Truth], *, days: float, factor: float, seed: int, until_cleared: bool
) -> list[Rehearsed]:
    """Each fault on a copy of the same healthy days. Raises Missing."""
    with tempfile.TemporaryDirectory() as folder:
        filled = Path(folder) / "data"
        ended = fill(filled, days=days, seed=seed)
        return [
            rehearse(
                filled, truth, ended=ended, factor=factor, seed=seed, until_cleared=until_cleared
            )
            for truth in wanted
        ]


def small_faults(seed: int) -> Part:
    """One fault, until it has paged; the machine may lack what tells it."""
    try:
        (rehearsed,) = faults(
            [SMALL_FAULT], days=SMALL_DAYS, factor=60, seed=seed, until_cleared=False
        )
    except Missing as error:
        return {"left_out": str(error)}, {}
    bars = {"one incident": rehearsed.incidents == 1, "one page": rehearsed.pages == 1}
    return asdict(rehearsed), bars


def all_faults(names: Sequence[str], *, factor: float, real_time: str, seed: int) -> Part:
    """What each did, and whether that is right."""
    known = asyncio.run(truths([Fault(name) for name in names]))
    rows = faults(list(known.values()), days=DAYS, factor=factor, seed=seed, until_cleared=True)
    if real_time:
        slow = [known.get(real_time) or asyncio.run(truths([Fault(real_time)]))[real_time]]
        rows += faults(slow, days=DAYS, factor=1.0, seed=seed, until_cleared=True)
    bars = {
        f"{row.fault} at factor {row.factor:g}: one incident, "
        f"{'one page' if row.must_page else 'no page'}, cleared": row.is_right
        for row in rows
    }
    return {"factor": factor, "rows": [asdict(row) for row in rows]}, bars


def main() -> None:
    parser = size_parser(__doc__)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--factor", type=float, default=60.0)
    parser.add_argument("--only", nargs="+", choices=FULL)
    parser.add_argument("--fault", nargs="+", choices=list(Fault), default=list(Fault))
    parser.add_argument("--real-time", default="", choices=["", *Fault])
    options = parser.parse_args()
    figures: dict[str, object] = {}
    bars: dict[str, bool] = {}
    for name in options.only or (SMALL if options.small else FULL):
        if name in SIMULATED:
            found, held = simulated(name, options.seed)
        elif options.small:
            found, held = small_faults(options.seed)
        else:
            found, held = all_faults(
                options.fault,
                factor=options.factor,
                real_time=options.real_time,
                seed=options.seed,
            )
        figures[name] = found
        bars |= held
    finish("watch", figures, bars, seed=options.seed)


if __name__ == "__main__":
    main()
