"""What the core works on is there for the intake, also when the core is not any more."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ragvigil.app.process.heartbeat import MOST_TRACES, NAME, Heartbeat, Phase, trace_unit
from tests.patience import PATIENCE_SECONDS

TRACES = [f"{number:032x}" for number in range(MOST_TRACES)]
KILLED_AT_WORK = """
import os, signal, sys
from pathlib import Path
from ragvigil.app.process.heartbeat import Heartbeat
with Heartbeat(Path(sys.argv[1])).scores(["ab" * 16]):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_reader_sees_what_is_in_work(tmp_path: Path) -> None:
    core, intake = Heartbeat(tmp_path), Heartbeat(tmp_path)
    with core.reads(7):
        assert intake.work().units == ("frame 7",)
    assert intake.work().phase is Phase.UNWATCHED
    with core.scores(TRACES):
        assert intake.work().units == tuple(map(trace_unit, TRACES))
    assert intake.work().units == ()


def test_every_step_is_a_beat(tmp_path: Path) -> None:
    core, intake = Heartbeat(tmp_path), Heartbeat(tmp_path)
    beats = [intake.work().beat]
    with core.scores(TRACES[:1]):
        beats.append(intake.work().beat)
        core.beat()
        beats.append(intake.work().beat)
    core.idle()
    beats.append(intake.work().beat)
    assert beats == sorted(set(beats))


def test_what_raised_stays_in_work(tmp_path: Path) -> None:
    core = Heartbeat(tmp_path)
    with pytest.raises(ZeroDivisionError), core.reads(3):
        _ = 1 / 0
    assert core.work().units == ("frame 3",)


def test_what_a_killed_process_worked_on_is_still_there(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED_AT_WORK, str(tmp_path)]
    done = subprocess.run(command, check=False, timeout=PATIENCE_SECONDS)
    assert done.returncode == -signal.SIGKILL
    assert Heartbeat(tmp_path).work().units == ("trace " + "ab" * 16,)


def test_a_file_of_other_content_is_no_work(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(os.urandom(64) + b"\xff" * 8192)
    Heartbeat(tmp_path).work()
    (tmp_path / NAME).write_bytes(b"\xff" * 8192)
    assert Heartbeat(tmp_path).work().units == ()
