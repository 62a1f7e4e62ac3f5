"""Starts commands that end with this process: for the demo, the benchmarks and the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ragvigil.app.process import parent

# The kernel ends a tied process with the *thread* that started it: one thread, which lives as long
# as this process, starts them all.
_STARTER = ThreadPoolExecutor(1, thread_name_prefix="starter")


def start_tied(command: Sequence[str | os.PathLike[str]], **options: Any) -> subprocess.Popen[Any]:
    """Starts a command that is killed when this process ends, in whatever way, SIGKILL too.

    `options` are those of Popen. What the command starts itself must end with it: ragvigil's
    processes do. Raises FileNotFoundError if there is no such program.
    """
    program, *arguments = [os.fspath(part) for part in command]
    path = shutil.which(program)
    if path is None:
        raise FileNotFoundError(f"there is no program {program}")
    # -S: without the packages of the environment, which take a tenth of a second.
    launcher = (sys.executable, "-S", "-E", parent.__file__, str(os.getpid()))
    launch = (*launcher, path, *arguments)
    return _STARTER.submit(lambda: subprocess.Popen(launch, **options)).result()


def run_tied(
    command: Sequence[str | os.PathLike[str]], *, seconds: float | None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end and returns its output, as text.

    Raises subprocess.TimeoutExpired after `seconds`, if there is a limit; the command is killed
    then.
    """
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with start_tied(command, **(pipes | options)) as process:
        try:
            output, errors = process.communicate(timeout=seconds)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)
