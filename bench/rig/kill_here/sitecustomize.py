"""Kills the daemon's own processes at named points of a write; `bench/kill_points.py` says when.

Python imports this module in every process that has its folder on PYTHONPATH. In the intake and in
the core it wraps the functions that a write goes through. A process that comes to the point whose
name stands in the file of POINT_FILE renames that file and sends itself SIGKILL. Nothing else of
the daemon changes.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

POINT_FILE = "BENCH_KILL_AT"
INSERT_SECONDS = 0.003
"""In an insert means so long after its begin: one of a batch takes some milliseconds."""


def die(point: str) -> None:
    """Kills this process, if this is the point; one process does so for each file."""
    path = Path(os.environ[POINT_FILE])
    with suppress(OSError):  # there is no file, or the other process came first
        if path.read_text(encoding="ascii") == point:
            path.rename(f"{path}.reached")
            os.kill(os.getpid(), signal.SIGKILL)


def wrap(owner: Any, name: str, *, before: str = "", after: str = "") -> None:
    """Puts points before and after a function of a class or a module."""
    wrapped: Callable[..., Any] = getattr(owner, name)

    def call(*arguments: Any, **named: Any) -> Any:
        if before:
            die(before)
        result = wrapped(*arguments, **named)
        if after:
            die(after)
        return result

    setattr(owner, name, call)


def wrap_intake() -> None:
    """The points of a commit to the spool, and the one between it and the answer."""
    from collector.spool import files, journal
    from collector.spool.spool import SpoolWriter

    file: Any = vars(files)["_RealAppendFile"]
    wrap(file, "write", before="before_write", after="after_write")
    wrap(file, "sync", after="after_fsync")
    wrap(journal.Journal, "commit", after="after_commit")
    spool: Any = SpoolWriter
    append = spool.append

    async def answered(*arguments: Any, **named: Any) -> int:
        seq = await append(*arguments, **named)
        die("before_answer")
        return seq

    spool.append = answered


def wrap_core() -> None:
    """The points of a batch on its way into the store, and those of a checkpoint."""
    from collector.spool import files
    from collector.spool.reader import SpoolReader
    from ragvigil.store.engine.writer import Writer

    writer: Any = Writer
    insert, write = writer._insert, writer.write

    def inserts(self: Writer, table: str, *arguments: Any) -> None:
        if table == "scores":  # spans and records of the batch are stored, scores are not
            die("mid_batch")
            threading.Timer(INSERT_SECONDS, die, ("mid_insert",)).start()
        insert(self, table, *arguments)

    def writes(self: Writer, attempt: Any) -> Any:
        result = write(self, attempt)
        if "scores" in attempt.done:
            die("after_insert")
        elif "ledger" in attempt.done:
            die("after_ledger")
        return result

    writer._insert, writer.write = inserts, writes
    wrap(SpoolReader, "checkpoint", before="before_checkpoint", after="after_checkpoint")
    wrap(files.RealFiles, "rename", after="after_rename")


if POINT_FILE in os.environ:
    if "ragvigil.app.daemon" in sys.orig_argv:
        wrap_intake()
    elif "ragvigil.app.core_process" in sys.orig_argv:
        wrap_core()
