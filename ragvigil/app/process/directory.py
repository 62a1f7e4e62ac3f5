"""The lock of the data directory: one daemon and one core each.

A lock names its owner: the process id and, while it stops, the word STOPPING.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from pathlib import Path
from typing import IO

import structlog

log = structlog.get_logger()

PREDECESSOR_SECONDS = 30.0
"""How long an owner that is ending is waited for. A daemon may stop for 25 s."""
DYING_SECONDS = 3.0
"""How long the lock of a daemon that seems to run is tried: one that was killed says nothing, and
is gone after some milliseconds, or a second on a busy machine."""
POLL_SECONDS = 0.05
STOPPING = "stopping"


class DirectoryTaken(Exception):
    """Another process holds the directory, or it cannot be used.

    `str(error)` is the line for the user.
    """


def hold(data_dir: Path, role: str, patience_seconds: float = 0.0) -> IO[str]:
    """Locks the directory for `role` (daemon or core) while the returned file is open.

    Waits up to `patience_seconds` for the owner to end, up to PREDECESSOR_SECONDS for one that is
    stopping. Raises DirectoryTaken if it holds the lock even then, or the directory cannot be made
    or written.
    """
    lock = _open(data_dir, role)
    started, announced = time.monotonic(), ""
    while not _is_locked(lock):
        owner, _, state = _read(lock).partition(" ")
        patience = PREDECESSOR_SECONDS if state == STOPPING else patience_seconds
        if time.monotonic() - started >= patience:
            raise DirectoryTaken(_taken(data_dir, role, owner))
        if patience > DYING_SECONDS and announced != owner:
            log.warning(f"waiting for the last {role} to end", process=owner, seconds=patience)
            announced = owner
        time.sleep(POLL_SECONDS)
    _write(lock, str(os.getpid()))
    return lock


def take_over(data_dir: Path) -> IO[str]:
    """Locks the directory for a daemon, once the one before it and its core have ended.

    Raises DirectoryTaken as `hold` does.
    """
    lock = hold(data_dir, "daemon", DYING_SECONDS)
    try:
        # The core of a daemon that was killed still ends: it has a port, and the store open.
        hold(data_dir, "core", PREDECESSOR_SECONDS).close()
    except DirectoryTaken:
        lock.close()
        raise
    return lock


def say_stopping(lock: IO[str]) -> None:
    """Notes in the lock that its owner stops: who wants the directory waits for it from now on."""
    _write(lock, f"{os.getpid()} {STOPPING}")


def _open(data_dir: Path, role: str) -> IO[str]:
    try:
        data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        # The kernel releases the lock when its process ends, however it ends: none stays behind.
        return (data_dir / f"{role}.lock").open("a+", encoding="ascii")
    except OSError as error:
        raise DirectoryTaken(_unusable(data_dir, error)) from error


def _is_locked(lock: IO[str]) -> bool:
    """Tries to lock the file; returns whether it is ours now."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read(lock: IO[str]) -> str:
    lock.seek(0)
    return lock.read().strip()


def _write(lock: IO[str], text: str) -> None:
    with contextlib.suppress(OSError):  # on a full disk the lock holds, and names no process
        os.ftruncate(lock.fileno(), 0)
        os.write(lock.fileno(), text.encode())


def _unusable(data_dir: Path, error: OSError) -> str:
    return (
        f"data_dir {data_dir} cannot be used: {error.strerror or error}; it must be a folder that "
        f"ragvigil may write, or set data_dir (RAGVIGIL_DATA_DIR) to another one"
    )


def _taken(data_dir: Path, role: str, owner: str) -> str:
    return (
        f"{data_dir} is in use by another ragvigil {role} (process {owner or 'unknown'}); "
        f"stop it, or set data_dir (RAGVIGIL_DATA_DIR) to another folder"
    )
