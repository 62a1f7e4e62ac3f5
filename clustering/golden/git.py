"""The `git` program, with nothing of the environment or of hooks between it and us."""

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
    """What `git ARGUMENTS` prints in that folder; empty where it fails and may.

    Raises RepositoryRefuses with git's own first line where it fails, or is not there.
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
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
        raise RepositoryRefuses(f"git {arguments[0]} in {root}: {said[0]}")
    return b"" if done.returncode else done.stdout


def line(root: Path, *arguments: str) -> str:
    """The one line that `git ARGUMENTS` prints; empty where it fails."""
    return git(root, *arguments, may_fail=True).decode("utf-8", "surrogateescape").strip()


def _environment() -> dict[str, str]:
    """Ours without `GIT_*`: a caller's GIT_DIR or GIT_INDEX_FILE would lead elsewhere."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return kept | {"GIT_TERMINAL_PROMPT": "0", "GIT_LITERAL_PATHSPECS": "1", "LC_ALL": "C"}
