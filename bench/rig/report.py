"""What all benchmarks share: where real data lies, and the one JSON line that ends a run."""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path
from typing import NoReturn

SAMPLES = Path(__file__).resolve().parents[2] / "tests" / "golden"


def bench_data() -> Path | None:
    """The folder with `captures/` and `data/` named by RAGVIGIL_BENCH_DATA, None where unset."""
    named = os.environ.get("RAGVIGIL_BENCH_DATA")
    return Path(named) if named else None


def progress(text: str) -> None:
    """One line of progress on standard error."""
    print(text, file=sys.stderr, flush=True)


def peak_rss_mb() -> float:
    """This process' peak resident memory in MB."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def finish(bench: str, figures: dict[str, object], bars: dict[str, bool], *, seed: int) -> NoReturn:
    """Prints the JSON line and exits: 0 when every bar holds, else 1.

    `bars` maps each promise in words (`"recall >= 0.95"`) to whether it held.
    """
    passed = all(bars.values())
    print(json.dumps({"bench": bench, "seed": seed, **figures, "bars": bars, "pass": passed}))
    sys.exit(0 if passed else 1)
