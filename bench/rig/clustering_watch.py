"""The clustering processes of a running daemon, read from /proc."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.rig.beside import repeatedly

LOOK_SECONDS = 0.5


@dataclass(slots=True)
class Watched:
    """CPU seconds of each clustering process at its first and last sample."""

    cpu: dict[int, tuple[float, float]] = field(default_factory=dict)
    looks: list[bool] = field(default_factory=list)

    def look(self, core: int) -> None:
        """Notes what clusters now."""
        pids = clustering_pids(core)
        self.looks.append(bool(pids))
        for pid in pids:
            cpu = cpu_seconds(pid)
            first, last = self.cpu.get(pid, (cpu, cpu))
            self.cpu[pid] = (first, max(last, cpu))


@contextmanager
def watching(core: int) -> Iterator[Watched]:
    """Samples the clustering processes at once, every half second and at the end."""
    watched = Watched()
    with repeatedly(lambda: watched.look(core), every_seconds=LOOK_SECONDS):
        yield watched


def clustering_pids(core: int) -> list[int]:
    """The clustering processes that the core has started."""
    threads = Path(f"/proc/{core}/task").glob("*/children")
    children = [pid for path in threads for pid in _read(path).split()]
    return [
        int(pid)
        for pid in children
        if b"clustering.grouping.child" in _read(f"/proc/{int(pid)}/cmdline")
    ]


def cpu_seconds(pid: int) -> float:
    """CPU seconds that a process has used; 0 if it has ended."""
    after_name = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return sum(map(int, after_name[11:13])) / os.sysconf("SC_CLK_TCK")


def _read(path: str | Path) -> bytes:
    """The content of a file of /proc; empty if the process has ended."""
    try:
        return Path(path).read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""
