"""Replies to questions that come again, in a SQLite file (in memory without a path).

The file outlives restarts. It holds replies and hashes, never a prompt. The number of entries is
bounded: the least recently used go first. A damaged file, or one of another version, is replaced:
that only costs calls.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import unicodedata
from collections.abc import Sequence
from pathlib import Path

VERSION = 1
SCHEMA = """
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, reply TEXT NOT NULL, model TEXT NOT NULL, used INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS replies_used ON replies (used);
"""


def cache_key(
    *,
    model: str,
    prompt_version: str,
    rubric: str,
    question: str,
    answer: str,
    chunk_hashes: Sequence[str],
) -> str:
    """sha256 of everything that a verdict depends on; the order of the chunks counts.

    Questions that differ only in white space and Unicode normalization have the same key.

    >>> parts = dict(model="m", prompt_version="1", rubric="r", answer="a", chunk_hashes=["x"])
    >>> cache_key(question="How much?", **parts) == cache_key(question=" How  much? ", **parts)
    True
    """
    normalized = " ".join(unicodedata.normalize("NFC", question).split())
    parts = [model, prompt_version, rubric, normalized, answer, list(chunk_hashes)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


class Cache:
    """At most `entries` replies by key; 0 keeps none."""

    def __init__(self, entries: int, path: Path | None = None) -> None:
        self._entries = entries
        self._database = _opened(path)
        self._turn, self._count = self._database.execute(
            "SELECT coalesce(max(used), 0), count(*) FROM replies"
        ).fetchone()
        self._evict()

    def __len__(self) -> int:
        return int(self._count)

    def get(self, key: str) -> tuple[str, str] | None:
        """The reply and the model that gave it; None if the key is unknown."""
        query = "UPDATE replies SET used = ? WHERE key = ? RETURNING reply, model"
        self._turn += 1
        rows = self._database.execute(query, (self._turn, key)).fetchall()
        return (rows[0][0], rows[0][1]) if rows else None

    def put(self, key: str, reply: str, model: str) -> None:
        """Keeps a reply; the least recently used goes where there are too many."""
        self._turn += 1
        changed = self._database.execute(
            "INSERT INTO replies VALUES (?, ?, ?, ?) ON CONFLICT (key) DO NOTHING",
            (key, reply, model, self._turn),
        ).rowcount
        self._count += changed
        self._evict()

    def clear(self) -> int:
        """Drops every reply, and its bytes in the file; returns how many there were."""
        dropped = self._count
        # What was deleted would lie on in free pages and in the journal.
        self._database.executescript("DELETE FROM replies; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
        self._count = 0
        return int(dropped)

    def close(self) -> None:
        """Closes the file."""
        self._database.close()

    def _evict(self) -> None:
        over = self._count - self._entries
        if over > 0:
            self._database.execute(
                "DELETE FROM replies WHERE key IN (SELECT key FROM replies ORDER BY used LIMIT ?)",
                (over,),
            )
            self._count -= over


def _opened(path: Path | None) -> sqlite3.Connection:
    try:
        return _connected(path)
    except sqlite3.DatabaseError:
        if path is None or not path.is_file():
            raise
        for ending in ("", "-wal", "-shm"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
        return _connected(path)


def _connected(path: Path | None) -> sqlite3.Connection:
    database = sqlite3.connect(
        path or ":memory:",
        isolation_level=None,
        check_same_thread=False,  # opened in another thread than that of its loop
    )
    try:
        database.execute("PRAGMA journal_mode = WAL")
        # A reply that a crash loses is asked for again: that costs less than waits for the disk.
        database.execute("PRAGMA synchronous = OFF")
        if database.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            database.execute("DROP TABLE IF EXISTS replies")
        database.executescript(f"{SCHEMA} PRAGMA user_version = {VERSION}")
        # Reads every column, so that a damaged file fails here and not at a first lookup.
        database.execute("SELECT count(reply), max(model), max(used) FROM replies").fetchone()
    except sqlite3.DatabaseError:
        database.close()
        raise
    return database
