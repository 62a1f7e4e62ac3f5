"""Replies by the hash of what was asked, in one SQLite file; each is kept as soon as it comes.

A run that was broken off goes on where it was. Where the release is named, a second run of it asks
nothing again. Without a name nobody knows whether the target is still the same: its replies are
forgotten when a run has ended.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from ragvigil.evaluation.target.reply import Asked

TABLE = """CREATE TABLE IF NOT EXISTS replies
    (whose TEXT, key TEXT, seconds REAL, reply TEXT, PRIMARY KEY (whose, key))"""


class BadCache(OSError):
    """The cache cannot be used; `str(error)` names its file and says why."""


class Reply(NamedTuple):
    """What a target replied, and after how many seconds."""

    reply: Any
    seconds: float


class Replies(NamedTuple):
    """Where replies are kept, of which release, and whether none of them counts now."""

    cache: Path
    release: str
    is_fresh: bool


class ReplyCache:
    """The replies of a target's release. Safe from any thread. Raises BadCache."""

    def __init__(self, path: Path, target: str, release: str = "") -> None:
        self._path, self._whose = path, json.dumps([target, release])
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._file.execute("PRAGMA journal_mode=WAL")
            self._file.execute(TABLE)
        except (OSError, sqlite3.Error) as error:
            raise BadCache(f"{path}: cannot be used as a cache: {error}") from error

    def find(self, asked: Asked, context: Sequence[str] | None) -> Reply | None:
        """What was replied to the same question with the same context; None if nothing was."""
        with self._lock:
            row = self._file.execute(
                "SELECT reply, seconds FROM replies WHERE whose = ? AND key = ?",
                (self._whose, _key(asked, context)),
            ).fetchone()
        return row and Reply(json.loads(row[0]), row[1])

    def keep(self, asked: Asked, context: Sequence[str] | None, reply: Reply) -> None:
        """Keeps a reply, unless it is no JSON. Raises BadCache where the disk is full."""
        try:
            written = json.dumps(reply.reply)
        except (TypeError, ValueError):
            return
        row = (self._whose, _key(asked, context), reply.seconds, written)
        self._write("INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?)", row)

    def forget(self) -> None:
        """Drops every reply of this target and release. Raises BadCache."""
        self._write("DELETE FROM replies WHERE whose = ?", (self._whose,))

    def close(self) -> None:
        """Lets go of the file."""
        with self._lock:
            self._file.close()

    def _write(self, statement: str, values: tuple[object, ...]) -> None:
        try:
            with self._lock:
                self._file.execute(statement, values)
        except sqlite3.Error as error:
            raise BadCache(f"{self._path}: cannot be written: {error}") from error


def _key(asked: Asked, context: Sequence[str] | None) -> str:
    parts = (asked.question, asked.service, asked.environment, asked.route, context)
    return sha256(json.dumps(parts, ensure_ascii=False).encode("utf-8", "replace")).hexdigest()
