"""How much memory and CPU this process may use, and whether memory is short."""

from __future__ import annotations

import ctypes
import gc
import os
import re
from functools import cache
from pathlib import Path

from ragvigil.inference.memory import give_back, resident_bytes

CGROUP = Path("/sys/fs/cgroup/memory.max")
CPU_CGROUP = Path("/sys/fs/cgroup/cpu.max")
SMAPS = Path("/proc/self/smaps")
LIBRARY_BYTES = 32 << 20
MADV_DONTNEED = 4
M_ARENA_MAX = -8
_MAPPING = re.compile(
    r"^([0-9a-f]+)-([0-9a-f]+) r-[-x]p \S+ \S+ [1-9]\d* +/.*\n(?:\w+: .*\n)*?Anonymous: +0 kB$",
    re.MULTILINE,
)
CHECK_SECONDS = 1.0
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


class Pressure:
    """Whether this process uses more than PRESSURE of its memory; looked at once a second.

    `limit` is in bytes, and defaults to the memory of the container or the machine.
    """

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit or limit_bytes()
        self._looked = float("-inf")

    def is_high(self, now: float) -> bool:
        """Whether it is, at `now` in seconds; False until CHECK_SECONDS after the last look."""
        if now - self._looked < CHECK_SECONDS:
            return False
        self._looked = now
        return resident_bytes(os.getpid()) > self._limit * PRESSURE


def share_one_heap() -> None:
    """Makes all threads of this process allocate from one heap (glibc; nothing elsewhere).

    Call it before any is started; MALLOC_ARENA_MAX of the environment comes first. By default each
    gets a heap of its own, up to eight a CPU, so that none waits for another. The interpreter's
    threads wait for its lock anyhow, and what one leaves free no other can use: 100 MB after ten
    minutes at 1,500 spans a second.
    """
    set_option = getattr(_c(), "mallopt", None)
    if set_option is not None and "MALLOC_ARENA_MAX" not in os.environ:
        set_option(M_ARENA_MAX, 1)


def collect_seldom() -> None:
    """Makes Python's collector of cycles run seldom; call it once everything is imported.

    That saves a tenth of the time: objects made from now on are short-lived and form no cycles.
    """
    gc.collect()
    gc.freeze()  # what was imported stays, and is not walked again
    # The batches gathered and written at full rate hold fewer objects than the threshold.
    gc.set_threshold(1_000_000, 20, 20)
    give_back()


def collect_soon() -> None:
    """Makes Python's collector of cycles run after few objects; call it once all is imported.

    Some 14 objects of a request by gRPC stay in a cycle, its bytes with them: at the usual 700
    objects the requests of 50 seconds stay, a quarter of a megabyte each.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100, 10, 10)
    give_back()


def give_back_code() -> None:
    """Gives back the pages of large libraries; those that are needed again are mapped again.

    The embedded engine is a library of half a gigabyte, of which its start touches 200 MB and a job
    100 MB. They stay in the page cache as long as the machine has room, so that no disk is read.
    """
    for begin, size in _code():
        _c().madvise(ctypes.c_void_p(begin), ctypes.c_size_t(size), MADV_DONTNEED)


@cache
def _c() -> ctypes.CDLL:
    return ctypes.CDLL(None)


@cache
def _code() -> tuple[tuple[int, int], ...]:
    """Begin and bytes of the large mappings of files that this process cannot have changed.

    What was relocated exists in this process alone, and must stay: such mappings have anonymous
    pages. Nothing is found on a system other than Linux.
    """
    text = SMAPS.read_text(encoding="utf-8", errors="replace") if SMAPS.exists() else ""
    found = []
    for match in _MAPPING.finditer(text):
        begin, end = int(match[1], 16), int(match[2], 16)
        if end - begin >= LIBRARY_BYTES:
            found.append((begin, end - begin))
    return tuple(found)
