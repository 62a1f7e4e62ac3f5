"""Prometheus and Alertmanager for tests: those of the machine, else Debian's, unpacked aside.

Nothing is installed: packages are downloaded and unpacked beside the environment of the tests.
Debian's Alertmanager reads its templates from /usr/share only: the one that lies aside is started
in a mount namespace of its own, where its packages' files are there.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

PACKAGES = ("prometheus", "prometheus-alertmanager")
NAMES = {"alertmanager": ("alertmanager", "prometheus-alertmanager")}
SECONDS = 180
AT_HOME = """#!/bin/sh
exec unshare --map-root-user --mount sh -c 'mount --bind "$0" /usr/share && exec "$@"' \\
    {folder}/share {folder}/bin/prometheus-alertmanager "$@"
"""


@cache
def tool(name: str) -> str:
    """Path of `promtool`, `amtool`, `prometheus` or `alertmanager`; skips the test without it."""
    aside = Path(sys.prefix) / "share" / "ragvigil-tests"
    found = _found(name, aside)
    if found is None:
        reason = fetch(aside)
        found = _found(name, aside)
        if found is None:
            pytest.skip(f"there is no {name}, and Debian's cannot be had: {reason}")
    if problem := _run([found, "--version"], Path()):
        pytest.skip(f"{found} does not run here: {problem}")
    return found


def fetch(target: Path) -> str:
    """Unpacks the packages into `target`; what stood in the way, else empty."""
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        return "apt-get or dpkg-deb is not here"
    target.mkdir(parents=True, exist_ok=True)
    with (target / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if all((target / "usr" / "bin" / name).exists() for name in (*PACKAGES, "alertmanager")):
            return ""
        problem = _run(["apt-get", "download", *PACKAGES], target)
        if problem and os.geteuid() == 0:
            problem = _run(["apt-get", "update"], target) or _run(
                ["apt-get", "download", *PACKAGES], target
            )
        for package in () if problem else target.glob("*.deb"):
            problem = problem or _run(["dpkg-deb", "-x", str(package), "."], target)
            package.unlink()
        _put_at_home(target / "usr")
        return problem


def _put_at_home(folder: Path) -> None:
    program = folder / "bin" / "alertmanager"
    program.write_text(AT_HOME.format(folder=shlex.quote(str(folder))), encoding="utf-8")
    program.chmod(0o755)


def _found(name: str, aside: Path) -> str | None:
    path = os.pathsep.join([os.environ.get("PATH", ""), str(aside / "usr" / "bin")])
    return next(
        filter(None, (shutil.which(one, path=path) for one in NAMES.get(name, (name,)))), None
    )


def _run(command: list[str], folder: Path) -> str:
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"{command[0]} took longer than {SECONDS} s"
    last = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
    return last if done.returncode else ""
