"""Runs the `git` program without hooks and without the caller's GIT_* variables."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

SECONDS = 60.0
CONFIG = (
    "core.hooksPath=/dev/null",
    "commit.gpgSign=false",
    "core.fsmonitor=false",
    "core.fsync=all",  # a signed case is acknowledged: it must be on the disk
    "core.quotePath=false",
    "gc.auto=0",
)


class RepositoryRefuses(Exception):
    """The set's file cannot be written; `str(error)` is one sentence with the way out."""


def git(
    root: Path,
    *arguments: str,
    sent: bytes = b"",
    environment: Mapping[str, str] | None = None,
    may_fail: bool = False,
) -> bytes:
    """The output of `git ARGUMENTS` in that folder; empty if it fails and `may_fail`.

    Raises RepositoryRefuses with git's first line of error, or if git is not installed.
    """
    configured = [part for setting in CONFIG for part in ("-c", setting)]
    try:
        done = subprocess.run(
            ["git", *configured, *arguments],
            cwd=root,
            input=sent,
            capture_output=True,
            timeout=SECONDS,
            env=_environment() | dict(environment or {}),
            check=False,
        )
    except FileNotFoundError as error:
        if not root.is_dir():
            raise RepositoryRefuses(f"[golden] repository: {root} is not a folder") from error
        raise RepositoryRefuses("git is not installed: signing a case needs it") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RepositoryRefuses(f"git does not run in {root}: {error}") from error
    if done.returncode and not may_fail:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
        raise RepositoryRefuses(f"git {arguments[0]} in {root}: {lines[0]}")
    return b"" if done.returncode else done.stdout


def line(root: Path, *arguments: str) -> str:
    """The line that `git ARGUMENTS` prints; empty if it fails."""
    return git(root, *arguments, may_fail=True).decode("utf-8", "surrogateescape").strip()


def _environment() -> dict[str, str]:
    """The environment without `GIT_*`: a caller's GIT_DIR or GIT_INDEX_FILE would mislead git."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return clean | {"GIT_TERMINAL_PROMPT": "0", "GIT_LITERAL_PATHSPECS": "1", "LC_ALL": "C"}
