"""Prometheus and Alertmanager for tests: those of the machine, else Debian's, unpacked aside.

Nothing is installed: packages are downloaded and unpacked beside the environment of the tests.
Debian's Alertmanager reads its templates from /usr/share only, so the unpacked program is started
in a mount namespace of its own, where its package's files are mounted there.
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
    path = _path_of(name, aside)
    if path is None:
        reason = fetch(aside)
        path = _path_of(name, aside)
        if path is None:
            pytest.skip(f"there is no {name}, and Debian's cannot be downloaded: {reason}")
    if problem := _run([path, "--version"], Path()):
        pytest.skip(f"{path} does not run here: {problem}")
    return path


def fetch(target: Path) -> str:
    """Unpacks the packages into `target`; returns what failed, empty if nothing did."""
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        return "apt-get or dpkg-deb is missing"
    target.mkdir(parents=True, exist_ok=True)
    # Test processes run side by side: the first one downloads, the others wait for it.
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


def _path_of(name: str, aside: Path) -> str | None:
    path = os.pathsep.join([os.environ.get("PATH", ""), str(aside / "usr" / "bin")])
    return next(
        filter(
            None, (shutil.which(candidate, path=path) for candidate in NAMES.get(name, (name,)))
        ),
        None,
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
