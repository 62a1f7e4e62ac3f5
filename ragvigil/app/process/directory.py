"""The lock of the data directory: one daemon and one core each."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import IO


class DirectoryTaken(Exception):
    """Another process holds the directory; `str(error)` is the line for the user."""


def hold(data_dir: Path, role: str, patience_seconds: float = 0.0) -> IO[str]:
    """Locks the directory for `role` (daemon or core) while the returned file is open.

    Raises DirectoryTaken if another process still holds the lock after `patience_seconds`.
    """
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    # The kernel releases the lock when its process ends, however it ends: no stale lock remains.
    lock = (data_dir / f"{role}.lock").open("a+", encoding="ascii")
    deadline = time.monotonic() + patience_seconds
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise DirectoryTaken(_taken(data_dir, role, lock)) from None
            time.sleep(0.1)
    lock.seek(0)
    lock.truncate()
    lock.write(str(os.getpid()))
    lock.flush()
    return lock


def _taken(data_dir: Path, role: str, lock: IO[str]) -> str:
    lock.seek(0)
    owner = lock.read().strip() or "unknown"
    return (
        f"{data_dir} is in use by another ragvigil {role} (process {owner}); "
        f"stop it, or set data_dir (RAGVIGIL_DATA_DIR) to another folder"
    )
