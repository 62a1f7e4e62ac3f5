"""How much memory and CPU this process may use, and whether memory is short."""

from __future__ import annotations

import gc
import os
from pathlib import Path

from ragvigil.inference.memory import resident_bytes

CGROUP = Path("/sys/fs/cgroup/memory.max")
CPU_CGROUP = Path("/sys/fs/cgroup/cpu.max")
PRESSURE = 0.8
"""Share of the limit above which open traces are closed early."""


def limit_bytes() -> int:
    """The container's memory limit, else the machine's memory."""
    if CGROUP.exists():
        text = CGROUP.read_text(encoding="ascii").strip()
        if text.isdigit():
            return int(text)
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def cpus() -> int:
    """Whole CPUs that this process may use: its affinity, at most its container's quota."""
    has_affinity = hasattr(os, "sched_getaffinity")  # not on macOS
    usable = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    if CPU_CGROUP.exists():
        quota, _, period = CPU_CGROUP.read_text(encoding="ascii").partition(" ")
        if quota.isdigit():
            return max(1, min(usable, int(quota) // int(period)))
    return usable


def is_pressed(limit: int) -> bool:
    """Whether this process uses more than PRESSURE of `limit` bytes."""
    return resident_bytes(os.getpid()) > limit * PRESSURE


def collect_seldom() -> None:
    """Makes Python's collector of cycles run seldom; call it once everything is imported.

    That saves a tenth of the time: objects made from now on are short-lived and form no cycles.
    """
    gc.collect()
    gc.freeze()  # what was imported stays, and is not walked again
    # The batches gathered and written at full rate hold fewer objects than the threshold.
    gc.set_threshold(1_000_000, 20, 20)
