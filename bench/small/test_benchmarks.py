"""Every benchmark answers correctly at its small size; speed is judged at full size only."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from ragvigil.app.process.tied import run_tied

ROOT = Path(__file__).resolve().parents[2]
FULL_SIZE_ONLY = {
    "api", "clean_stops", "clustering", "clustering_latency", "damage", "drift", "faults",
    "full_disk", "fuzz", "hostile", "ingest", "issues", "judge", "judge_outages", "judge_storm",
    "kill_points", "kill_storm", "newcomer", "notices", "package", "pages", "reloads", "restarts",
    "scaling", "signals", "soak", "store_outages", "watch",
}  # fmt: skip
"""They take half a minute or more, whatever the size: until daemons cluster or start again, the
late window of a trace is over, an API comes back, an hour is rehearsed, weeks are simulated, edges
are many, or hundreds of megabytes are installed (`newcomer`, `package`). `make bench`, `storm`,
`proof`, `newcomer`, `package-check` run them."""
LIMIT_SECONDS = 1800.0
"""Ten times what the longest takes: machines differ, and others may use this one too."""
LONGEST = ("evaluate", "truth", "sidecar", "footprint", "connections")
"""Started first: no worker is left alone with a long benchmark at the end."""


def benchmarks() -> list[Path]:
    """The files of `bench/` that end with a verdict."""
    files = [path for path in (ROOT / "bench").glob("*.py") if _ends_with_a_verdict(path)]
    return sorted(files, key=lambda path: (_rank(path.stem), path.stem))


def _ends_with_a_verdict(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    is_benchmark = "report import" in text and "finish(" in text and "__main__" in text
    return is_benchmark and path.stem not in FULL_SIZE_ONLY


def _rank(name: str) -> int:
    return LONGEST.index(name) if name in LONGEST else len(LONGEST)


@pytest.mark.parametrize("path", benchmarks(), ids=lambda path: path.stem)
def test_a_benchmark_passes_at_its_small_size(path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "RAGVIGIL_BENCH_DATA"}
    # A model process costs each daemon 600 MB and ten seconds of CPU; no answer here needs one.
    environment.setdefault("RAGVIGIL_INFERENCE__ENABLED", "false")
    command = [sys.executable, str(path), "--small"]
    done = run_tied(command, seconds=LIMIT_SECONDS, env=environment)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    verdict = json.loads(done.stdout.splitlines()[-1])
    assert verdict["pass"] is True
    assert verdict["bench"] == path.stem
