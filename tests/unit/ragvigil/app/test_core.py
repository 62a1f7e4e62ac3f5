"""The core starts and stops in the order that `core.run` gives reasons for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE_SECONDS

LIFE = """
import contextlib, json, socket, sys, threading
from pathlib import Path
from ragvigil.app import core
from ragvigil.app.parts import Background
from ragvigil.app.settings import Settings
from ragvigil.model.clock import Pace
from ragvigil.web.settings import WebSettings

steps, stop = [], threading.Event()
stop.set()

def record(owner, name, step):
    call = getattr(owner, name)
    def recorded(*arguments, **named):
        steps.append(step)
        return call(*arguments, **named)
    setattr(owner, name, recorded)

record(core.Store, "open", "store")
record(core, "assemble", "parts")
record(core, "_start_control", "control")
record(core.Schedule, "start", "jobs")
record(Background, "start", "background")
record(core.Pipeline, "run", "pipeline")
record(Background, "stop", "end of background")
record(core.Schedule, "end", "no more jobs")
record(core.Schedule, "stop", "end of jobs")
record(core.Store, "close", "end of store")
serve_web = core.serve_web

@contextlib.contextmanager
def served(*arguments):
    with serve_web(*arguments):
        steps.append("web")
        yield
    steps.append("end of web")

core.serve_web = served
ours, theirs = socket.socketpair()
settings = Settings(data_dir=Path(sys.argv[1]), web=WebSettings(endpoint="127.0.0.1:0"))
core.run(settings, theirs, stop, Pace())
print(json.dumps(steps))
"""
"""A life of the core, in a process of its own: `run` changes the interpreter's settings."""


def test_a_life_of_the_core_has_its_order(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LIFE, str(tmp_path)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=PATIENCE_SECONDS
    )
    starts = ["store", "parts", "control", "jobs", "web", "background", "pipeline"]
    stops = ["end of web", "no more jobs", "end of background", "end of jobs", "end of store"]
    assert json.loads(done.stdout.splitlines()[-1]) == starts + stops
