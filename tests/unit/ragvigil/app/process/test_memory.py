"""What the container allows counts, not what the machine has."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

import pytest

from ragvigil.app.process import memory
from ragvigil.app.process.tied import run_tied
from tests.patience import PATIENCE_SECONDS


@pytest.mark.parametrize(
    ("quota", "cpus"), [("100000 100000", 1), ("50000 100000", 1), ("max 100000", None)]
)
def test_cpus_are_those_of_the_containers_quota(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quota: str, cpus: int | None
) -> None:
    file = tmp_path / "cpu.max"
    file.write_text(quota + "\n", encoding="ascii")
    monkeypatch.setattr(memory, "CPU_CGROUP", file)
    assert memory.cpus() == (cpus or len(os.sched_getaffinity(0)))


HEAPS = """
import sys
from pathlib import Path
from threading import Barrier, Thread
from ragvigil.app.process.memory import share_one_heap

def heaps():
    \"\"\"Of threads: 64 MB each are kept for one, and nearly all of it is not used yet.\"\"\"
    lines = Path("/proc/self/maps").read_text().splitlines()
    spans = (line.split()[0].split("-") for line in lines if " ---p " in line)
    return sum(60 << 20 < int(end, 16) - int(begin, 16) <= 64 << 20 for begin, end in spans)

if sys.argv[1] == "one":
    share_one_heap()
before, together = heaps(), Barrier(4)

def work():
    kept = [bytes(2_000) for _ in range(100)]
    together.wait()
    return kept

threads = [Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(heaps() - before)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="needs glibc")
@pytest.mark.parametrize(("which", "are_more"), [("one", False), ("own", True)])
def test_threads_share_a_heap(monkeypatch: pytest.MonkeyPatch, which: str, are_more: bool) -> None:
    for name in ("MALLOC_ARENA_MAX", "GLIBC_TUNABLES", "LD_PRELOAD"):
        monkeypatch.delenv(name, raising=False)
    done = run_tied([sys.executable, "-c", HEAPS, which], seconds=PATIENCE_SECONDS)
    assert done.returncode == 0, done.stderr
    assert (int(done.stdout) > 0) == are_more
