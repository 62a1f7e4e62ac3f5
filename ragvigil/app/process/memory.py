"""How much memory and CPU this process may use, and how much memory it does."""

from __future__ import annotations

import gc
import os
from pathlib import Path

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
    """Whole CPUs that this process may use: those of the machine, or of its container's quota."""
    mine = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if CPU_CGROUP.exists():
        quota, _, period = CPU_CGROUP.read_text(encoding="ascii").partition(" ")
        if quota.isdigit():
            return max(1, min(mine, int(quota) // int(period)))
    return mine


def used_bytes() -> int:
    """Resident memory of this process; 0 where the system does not tell."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return 0
    return int(statm.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def is_pressed(limit: int) -> bool:
    """Whether memory must be given back."""
    return used_bytes() > limit * PRESSURE


def collect_seldom() -> None:
    """Tells Python's collector of cycles what the core is like, once everything is imported.

    What was imported stays, and need not be walked again and again; what is made from then on is
    short-lived and holds no cycles, so that looking less often saves a tenth. The batches that are
    gathered and written at full rate hold fewer objects than the threshold: they go unwalked.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(1_000_000, 20, 20)
