"""What a test or a benchmark starts ends with it, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ragvigil.app.process.tied import run_tied, start_tied
from tests.patience import PATIENCE_SECONDS

RIG = """
import sys, threading, time
from pathlib import Path
from ragvigil.app.demo.child_daemon import start

daemon = start(Path(sys.argv[1]))
daemon.wait_ready()
print("ready", flush=True)
time.sleep(3600)
"""


def processes_of(folder: Path) -> set[int]:
    """The processes, zombies not counted, whose environment or command line names the folder."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            text = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
            state = (entry / "stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
        except OSError:
            continue
        if str(folder).encode() in text and state != "Z":
            found.add(int(entry.name))
    return found


def wait_until_gone(folder: Path) -> bool:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while processes_of(folder) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not processes_of(folder)


def test_a_killed_rig_leaves_no_process_behind(tmp_path: Path) -> None:
    rig = subprocess.Popen(
        [sys.executable, "-c", RIG, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert rig.stdout is not None
    assert rig.stdout.readline() == "ready\n"
    assert len(processes_of(tmp_path)) >= 3, "the rig, the intake and the core"
    rig.send_signal(signal.SIGKILL)
    rig.wait()
    assert wait_until_gone(tmp_path)


def test_a_thread_that_ends_takes_nothing_along(tmp_path: Path) -> None:
    started: list[subprocess.Popen[bytes]] = []
    thread = threading.Thread(target=lambda: started.append(start_tied(["sleep", "3600"])))
    thread.start()
    thread.join()
    time.sleep(0.5)
    assert started[0].poll() is None
    started[0].kill()
    assert started[0].wait() == -signal.SIGKILL
    assert tmp_path.exists()


def test_a_tied_process_is_the_program_itself() -> None:
    done = run_tied(
        [sys.executable, "-c", "import os; print(os.getppid())"], seconds=PATIENCE_SECONDS
    )
    assert (done.returncode, done.stdout) == (0, f"{os.getpid()}\n")
    with start_tied(["sh", "-c", "kill -9 $$"]) as process:
        assert process.wait() == -signal.SIGKILL


def test_an_unknown_program_is_an_error_here() -> None:
    with pytest.raises(FileNotFoundError):
        start_tied(["no-such-program"])


def test_what_takes_too_long_is_killed() -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run_tied(["sleep", "3600"], seconds=0.2)
