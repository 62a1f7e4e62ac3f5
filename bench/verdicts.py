"""How often the verdict names the right layer, on simulated faults with a judge that errs.

    python bench/verdicts.py [--small] [--seed N] [--write docs/verdicts.md]

Every fault of the table runs on services that differ: with and without a reranker, a source of
truth, a notice, an audit; with changes that coincide, and with notices under a wrong name. Records
are simulated from chunks to answer (bench/rig/verdict_answers.py); audits, measurements and verdict
are the product's. A run in which nothing is noticed makes no incident, and counts apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from bench.rig.matrices import Row, matrix, write_part
from bench.rig.options import size_parser
from bench.rig.report import finish, progress
from bench.rig.verdict_answers import FLIPS
from bench.rig.verdict_faults import FAULTS, JUDGED, Fault, run
from ragvigil.model.notice import Cause

SEED = 53
RUNS, SMALL_RUNS = 200, 8
DOCUMENT_PART = "simulated services"
UNDETERMINED, UNNOTICED = "undetermined", "no incident"
COLUMNS = (*(cause.value for cause in Cause), UNDETERMINED, UNNOTICED)
LEAST_RIGHT, MOST_WRONG, MOST_OPEN = 0.93, 0.05, 0.30
Counts = Mapping[str, "Counter[str]"]


def count(rng: np.random.Generator, fault: Fault, runs: int) -> tuple[Counter[str], Counter[str]]:
    """What the verdict said of so many runs of a fault: the layer, and its part where named."""
    said: Counter[str] = Counter()
    parts: Counter[str] = Counter()
    for _ in range(runs):
        verdict = run(rng, fault)
        if verdict is None:
            said[UNNOTICED] += 1
            continue
        said[verdict.cause.value if verdict.cause else UNDETERMINED] += 1
        if verdict.cause is fault.cause:
            parts[verdict.part] += 1
    return said, parts


def rates(counts: Counts) -> dict[str, float]:
    """Right of those named, and wrong and undetermined of all incidents."""
    right = sum(counts[fault.name][fault.cause.value] for fault in FAULTS)
    open_ = sum(said[UNDETERMINED] for said in counts.values())
    named = sum(said[cause.value] for said in counts.values() for cause in Cause)
    return {
        "right_of_named": round(right / max(named, 1), 4),
        "wrong": round((named - right) / (named + open_), 4),
        "undetermined": round(open_ / (named + open_), 4),
    }


def table(counts: Counts) -> str:
    """The confusion matrix in Markdown: a row a fault, a column what was said."""
    rows = [
        Row(
            fault=fault.name,
            layer=f"{fault.cause} ({fault.part})" if fault.part else fault.cause.value,
            right=(fault.cause.value,),
            said=counts[fault.name],
        )
        for fault in FAULTS
    ]
    return matrix(rows, COLUMNS)


def part_of(counts: Counts, figures: Mapping[str, float], runs: int, seed: int) -> str:
    """What the document tells of the simulations."""
    right, wrong = f"{figures['right_of_named']:.1%}", f"{figures['wrong']:.1%}"
    return f"""Seed {seed}, {runs} runs a fault; a judge that errs in {FLIPS:.0%} of its verdicts,
an audit in {JUDGED:.0%} of the runs.

- Of the layers named, {right} are right (bar: at least {LEAST_RIGHT:.0%}).
- Of all incidents, {wrong} got a wrong layer (bar: at most {MOST_WRONG:.0%}).
- Of all incidents, {figures["undetermined"]:.1%} got none (bar: at most {MOST_OPEN:.0%}). They say
  which layers it may be, and what would settle it.
- Of the faults of the reranker that were named retrieval, {figures["reranker_told"]:.0%} were told
  to be the reranker's.

{table(counts)}
"""


def main() -> None:
    """Runs it and prints the JSON line."""
    parser = size_parser(__doc__)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--write", type=Path, help="the document that gets the matrix")
    given = parser.parse_args()
    runs = SMALL_RUNS if given.small else RUNS
    rng = np.random.default_rng(given.seed)
    counts: dict[str, Counter[str]] = {}
    told, of_reranker = 0, 0
    for fault in FAULTS:
        counts[fault.name], parts = count(rng, fault, runs)
        told += parts[fault.part] if fault.part else 0
        of_reranker += sum(parts.values()) if fault.part else 0
        progress(f"{fault.name} ({fault.cause}): {dict(counts[fault.name])}, parts {dict(parts)}")
    figures = {**rates(counts), "reranker_told": round(told / max(of_reranker, 1), 3)}
    if given.write:
        write_part(given.write, DOCUMENT_PART, part_of(counts, figures, runs, given.seed))
    bars = {
        f"right of those named >= {LEAST_RIGHT}": figures["right_of_named"] >= LEAST_RIGHT,
        f"wrong of all <= {MOST_WRONG}": figures["wrong"] <= MOST_WRONG,
        f"undetermined of all <= {MOST_OPEN}": figures["undetermined"] <= MOST_OPEN,
    }
    said = {name: dict(of) for name, of in counts.items()}
    finish("verdicts", {"runs": runs, **figures, "said": said}, bars, seed=given.seed)


if __name__ == "__main__":
    main()
