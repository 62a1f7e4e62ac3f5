"""What a daemon costs to which nothing is sent: memory, and CPU over five minutes.

    .venv/bin/python bench/idle.py [--small] [--seconds N]

A fresh daemon with default settings starts; once it has been ready for SETTLE_SECONDS, the CPU time
of its two processes is read from /proc, and again after N seconds. What these start counts once it
has ended. `jobs` is the time that each periodic job took, from `/metrics`: it
includes what the store computed for it. CPU times hardly depend on what else the machine does.
"""

from __future__ import annotations

import re
import tempfile
import time
from pathlib import Path

import httpx2

from bench.rig.options import size_parser
from bench.rig.processes import core_pid, cpu_seconds, memory_mb
from bench.rig.report import finish, progress
from ragvigil.app.demo.child_daemon import ChildDaemon, running

SECONDS, SETTLE_SECONDS = 300.0, 60.0
SMALL_SECONDS, SMALL_SETTLE_SECONDS = 5.0, 1.0
JOB = re.compile(r'^ragvigil_job_seconds_(sum|count)\{job="(\w+)"\} (\S+)$', re.MULTILINE)
MOST_CPU, MOST_CORE_MB, MOST_INTAKE_MB = 0.01, 280.0, 80.0
SHOWN = 8
"""The costliest jobs that the report names."""


def job_seconds(daemon: ChildDaemon) -> dict[str, tuple[float, float]]:
    """Seconds and runs of each job so far."""
    text = httpx2.get(f"http://{daemon.metrics}/metrics", timeout=60).text
    values = {(kind, job): float(number) for kind, job, number in JOB.findall(text)}
    jobs = {job for _, job in values}
    return {job: (values[("sum", job)], values[("count", job)]) for job in jobs}


def costliest(
    before: dict[str, tuple[float, float]], after: dict[str, tuple[float, float]]
) -> dict[str, list[float]]:
    """The jobs that took longest between two looks: seconds and runs."""
    taken = {
        job: [round(seconds - before.get(job, (0, 0))[0], 3), runs - before.get(job, (0, 0))[1]]
        for job, (seconds, runs) in after.items()
    }
    return dict(sorted(taken.items(), key=lambda item: -item[1][0])[:SHOWN])


def main() -> None:
    parser = size_parser(__doc__)
    parser.add_argument("--seconds", type=float)
    options = parser.parse_args()
    seconds = options.seconds or (SMALL_SECONDS if options.small else SECONDS)
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as daemon:
        pids = intake, core = daemon.process.pid, core_pid(daemon)
        progress("ready; it settles")
        time.sleep(SMALL_SETTLE_SECONDS if options.small else SETTLE_SECONDS)
        jobs, spent = job_seconds(daemon), [cpu_seconds(pid, with_ended=True) for pid in pids]
        began = time.monotonic()
        time.sleep(seconds)
        lasted = time.monotonic() - began
        intake_cpu, core_cpu = (
            cpu_seconds(pid, with_ended=True) - before
            for pid, before in zip(pids, spent, strict=True)
        )
        share = (intake_cpu + core_cpu) / lasted
        core_mb, intake_mb = memory_mb(core, "VmRSS"), memory_mb(intake, "VmRSS")
        figures: dict[str, object] = {
            "seconds": round(lasted),
            "cpu_share": round(share, 4),
            "intake_cpu_s": round(intake_cpu, 2),
            "core_cpu_s": round(core_cpu, 2),
            "intake_mb": intake_mb,
            "core_mb": core_mb,
            "core_peak_mb": memory_mb(core, "VmHWM"),
            "jobs_seconds_and_runs": costliest(jobs, job_seconds(daemon)),
        }
    bars = {f"intake <= {MOST_INTAKE_MB:g} MB": intake_mb <= MOST_INTAKE_MB}
    if not options.small:
        bars[f"core <= {MOST_CORE_MB:g} MB"] = core_mb <= MOST_CORE_MB
        bars[f"share of a core <= {MOST_CPU:g}"] = share <= MOST_CPU
    finish("idle", figures, bars, seed=0)


if __name__ == "__main__":
    main()
