"""How a process that computes for long leaves the machine to those who wait for answers."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

BEHIND_THE_INTAKE, NICE = 5, 10


def let_the_intake_first() -> None:
    """The core can wait, whoever is owed an acknowledgement cannot: with as many threads of a
    database as it likes beside it, the intake waited 150 ms for the CPU."""
    os.nice(BEHIND_THE_INTAKE)
    session = Path("/proc/self/autogroup")
    if session.exists():  # there Linux weighs whole sessions, and the core has one of its own
        with contextlib.suppress(OSError):
            session.write_text(str(BEHIND_THE_INTAKE))


def step_back() -> None:
    """Others go first on the CPU, and the kernel ends this process first where memory is short."""
    os.nice(NICE)
    short = Path("/proc/self/oom_score_adj")
    if short.exists():
        short.write_text("1000")


def only_idle() -> None:
    """Runs only while nobody else wants the CPU (Linux): whoever wakes has to wait for a slice of a
    nice process, and for none of an idle one. A sandbox may refuse that."""
    if hasattr(os, "SCHED_IDLE"):
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def alone(threads: int) -> dict[str, str]:
    """The environment in which numeric libraries start no more threads than these."""
    names = ("OMP", "MKL", "OPENBLAS", "NUMBA")
    return {f"{name}_NUM_THREADS": str(threads) for name in names}
