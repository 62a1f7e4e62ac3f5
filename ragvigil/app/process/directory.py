"""The lock of the data directory: one daemon and one core each."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from pathlib import Path
from typing import IO


class DirectoryTaken(Exception):
    """Another process holds the directory, or it cannot be used.

    `str(error)` is the line for the user.
    """


def hold(data_dir: Path, role: str, patience_seconds: float = 0.0) -> IO[str]:
    """Locks the directory for `role` (daemon or core) while the returned file is open.

    Raises DirectoryTaken if another process still holds the lock after `patience_seconds`, or the
    directory cannot be made or written.
    """
    try:
        data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        # The kernel releases the lock when its process ends, however it ends: none stays behind.
        lock = (data_dir / f"{role}.lock").open("a+", encoding="ascii")
    except OSError as error:
        raise DirectoryTaken(_unusable(data_dir, error)) from error
    deadline = time.monotonic() + patience_seconds
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise DirectoryTaken(_taken(data_dir, role, lock)) from None
            time.sleep(0.1)
    with contextlib.suppress(OSError):  # on a full disk the lock holds, and names no process
        os.ftruncate(lock.fileno(), 0)
        os.write(lock.fileno(), str(os.getpid()).encode())
    return lock


def _unusable(data_dir: Path, error: OSError) -> str:
    return (
        f"data_dir {data_dir} cannot be used: {error.strerror or error}; it must be a folder that "
        f"ragvigil may write, or set data_dir (RAGVIGIL_DATA_DIR) to another one"
    )


def _taken(data_dir: Path, role: str, lock: IO[str]) -> str:
    lock.seek(0)
    owner = lock.read().strip() or "unknown"
    return (
        f"{data_dir} is in use by another ragvigil {role} (process {owner}); "
        f"stop it, or set data_dir (RAGVIGIL_DATA_DIR) to another folder"
    )
