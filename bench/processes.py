"""Memory of a running daemon's two processes, read from /proc."""

from __future__ import annotations

import re
from pathlib import Path

from ragvigil.app.child_daemon import ChildDaemon


def core_pid(daemon: ChildDaemon) -> int:
    """Process id of the core, from the lock that it holds."""
    return int((daemon.data_dir / "core.lock").read_text(encoding="ascii"))


def memory_mb(pid: int, field: str) -> float:
    """`VmRSS` (now) or `VmHWM` (peak) of a process, MB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(rf"{field}:\s+(\d+) kB", status)
    return round(int(found.group(1)) / 1024, 1) if found else 0.0
