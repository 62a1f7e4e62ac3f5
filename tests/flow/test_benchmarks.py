"""Every benchmark answers rightly at its small size; what it says of speed is not judged here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SLOW = {"clustering_latency"}
"""Its daemons take minutes until they cluster, whatever the size: `make bench` runs it."""


def benchmarks() -> list[Path]:
    """The files of `bench/` that end with a verdict."""
    files = sorted((ROOT / "bench").glob("*.py"))
    return [path for path in files if _gives_a_verdict(path) and path.stem not in SLOW]


def _gives_a_verdict(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    return "report import" in text and "finish(" in text and "__main__" in text


@pytest.mark.parametrize("path", benchmarks(), ids=lambda path: path.stem)
def test_a_benchmark_passes_at_its_small_size(path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "RAGVIGIL_BENCH_DATA"}
    done = subprocess.run(
        [sys.executable, str(path), "--small"],
        capture_output=True,
        text=True,
        timeout=240,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    verdict = json.loads(done.stdout.splitlines()[-1])
    assert verdict["pass"] is True
    assert verdict["bench"] == path.stem
