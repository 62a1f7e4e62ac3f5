"""The processes of a running daemon, with their memory and CPU time, read from /proc."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ragvigil.app.demo.child_daemon import ChildDaemon


def core_pid(daemon: ChildDaemon) -> int:
    """Process id of the core, from the lock that it holds."""
    return int((daemon.data_dir / "core.lock").read_text(encoding="ascii"))


def scoring_pids(daemon: ChildDaemon) -> list[int]:
    """Process ids of the scoring workers that run now."""
    core, found = core_pid(daemon), []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int(
                (folder / "stat").read_text(encoding="ascii").rpartition(")")[2].split()[1]
            )
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue  # it has ended meanwhile
        if parent == core and b"multiprocessing.spawn" in command:
            found.append(int(folder.name))
    return found


def cpu_seconds(pid: int, *, with_ended: bool = False) -> float:
    """User and system time of a process; `with_ended` adds its children that have ended."""
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    fields = stat.rpartition(")")[2].split()[11 : 15 if with_ended else 13]
    return sum(map(int, fields)) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int, field: str) -> float:
    """`VmRSS` (now) or `VmHWM` (peak) of a process, MB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(rf"{field}:\s+(\d+) kB", status)
    return round(int(found.group(1)) / 1024, 1) if found else 0.0
