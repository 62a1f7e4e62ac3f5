"""A process that computes for long is last on the CPU."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(not hasattr(os, "SCHED_IDLE"), reason="Linux only")
def test_a_process_can_take_idle_cpu_only() -> None:
    code = "import os; from ragvigil.inference.process_priority import "
    code += "lower_priority, run_when_idle; "
    code += "lower_priority(); run_when_idle(); "
    code += "print(os.sched_getscheduler(0) == os.SCHED_IDLE, os.nice(0))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # The niceness of this process counts: the tests may run under `nice`.
    assert done.stdout.split() == ["True", str(min(19, os.nice(0) + 10))]


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="no autogroups here")
@pytest.mark.parametrize("leads", [True, False])
def test_a_session_yields_with_the_process_that_leads_it(leads: bool) -> None:
    code = "from pathlib import Path; from ragvigil.inference.process_priority import "
    code += (
        "lower_priority; weight = Path('/proc/self/autogroup'); print(weight.read_text().strip()); "
    )
    code += "lower_priority(); print(weight.read_text().strip())"
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, start_new_session=leads
    )
    before, after = done.stdout.splitlines()  # both empty where no process has led a session
    assert after.endswith(f" nice {min(19, os.nice(0) + 10)}") if leads else after == before
