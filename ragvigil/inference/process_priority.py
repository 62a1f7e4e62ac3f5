"""CPU and memory priorities: processes that compute for long yield to those with a client."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

BEHIND_THE_INTAKE, NICE = 5, 10


def yield_to_intake() -> None:
    """Lowers the priority of every thread of the core below the intake's, whose clients wait.

    Without it, in one run of three, the intake waited 150 ms for the CPU while the database's
    threads computed (ADR 18).
    """
    nice = os.getpriority(os.PRIO_PROCESS, 0) + BEHIND_THE_INTAKE
    for thread in _threads():
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            os.setpriority(os.PRIO_PROCESS, thread, nice)
    _weigh_session(BEHIND_THE_INTAKE)


def _threads() -> list[int]:
    """The threads of this process: Linux gives each a priority of its own."""
    folder = Path("/proc/self/task")
    return [int(thread.name) for thread in folder.iterdir()] if folder.exists() else [0]


def _weigh_session(nice: int) -> None:
    """With autogroups Linux weighs whole sessions, and a niceness counts only within its own.

    A process that leads no session leaves the one alone that it shares.
    """
    session = Path("/proc/self/autogroup")
    if os.getsid(0) == os.getpid() and session.exists():
        with contextlib.suppress(OSError):
            session.write_text(str(nice))


def lower_priority() -> None:
    """Yields the CPU to other processes, and lets the kernel end this one first without memory."""
    _weigh_session(max(0, os.nice(NICE)))
    short = Path("/proc/self/oom_score_adj")
    if short.exists():
        short.write_text("1000")


def run_when_idle() -> None:
    """Runs this process only while no other wants the CPU (Linux).

    A process that wakes waits for the time slice of a nice process, and not for an idle one.
    """
    if hasattr(os, "SCHED_IDLE"):
        with contextlib.suppress(OSError):  # a sandbox may refuse it
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def thread_limits(threads: int) -> dict[str, str]:
    """The environment variables that limit the threads of numeric libraries."""
    names = ("OMP", "MKL", "OPENBLAS", "NUMBA")
    return {f"{name}_NUM_THREADS": str(threads) for name in names}
