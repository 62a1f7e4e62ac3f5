"""The judge's queue: a SQLite file, so that a crash neither loses nor doubles a record (ADR 9).

A record enters when its scores are durable and leaves when its verdicts are. The file holds keys
and a hash of what is judged, never a text.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from ragvigil.model.record import RagRecord
from ragvigil.model.score import Stream

# `started`: taken by a worker, and not finished if the process ends. `judged` remembers finished
# records for a day, so that a replay of the spool does not queue them again.
SCHEMA = """
CREATE TABLE IF NOT EXISTS waiting (
    trace_id TEXT, record_id TEXT, content TEXT NOT NULL, stream TEXT NOT NULL,
    probability REAL NOT NULL, due REAL NOT NULL, rounds INTEGER NOT NULL DEFAULT 0,
    started INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (trace_id, record_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS waiting_due ON waiting (due);
CREATE TABLE IF NOT EXISTS judged (
    trace_id TEXT, record_id TEXT, content TEXT NOT NULL, at REAL NOT NULL,
    PRIMARY KEY (trace_id, record_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS judged_at ON judged (at);
"""
# A waiting record is replaced only if its content changed; it then starts with no rounds tried.
_ADD = """
INSERT INTO waiting (trace_id, record_id, content, stream, probability, due)
SELECT :trace_id, :record_id, :content, :stream, :probability, :due
WHERE NOT EXISTS (
    SELECT 1 FROM judged
    WHERE trace_id = :trace_id AND record_id = :record_id AND content = :content
)
ON CONFLICT (trace_id, record_id) DO UPDATE SET
    content = excluded.content, stream = excluded.stream,
    probability = excluded.probability, due = excluded.due, rounds = 0, started = 0
WHERE content != excluded.content
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedRecord:
    """A record to be judged; `due` in seconds since the epoch, `rounds` tried before."""

    trace_id: str
    record_id: str
    content: str
    stream: Stream
    probability: float
    due: float
    rounds: int = 0


def content_hash(record: RagRecord) -> str:
    """A hash of everything that is judged: question, answer and chunks."""
    digest = hashlib.blake2b(digest_size=16)
    lists = (record.retrieved, record.reranked, record.context)
    for part in (record.query, record.answer, *(chunk.content for docs in lists for chunk in docs)):
        text = "\0" if part is None else part
        digest.update(len(text).to_bytes(8, "little"))
        digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


class JudgeQueue:
    """At most `limit` records, in a file or (`path` None) in memory; thread-safe.

    `repeated` is the number of records that were being judged when the last process ended. Raises
    sqlite3.Error if the file cannot be used.
    """

    def __init__(self, path: Path | None, limit: int) -> None:
        self.limit, self._lock = limit, Lock()
        self._database = sqlite3.connect(
            path or ":memory:", isolation_level=None, check_same_thread=False
        )
        self._database.execute("PRAGMA journal_mode = WAL")
        # Commits do not wait for the disk; those of `add` must, see `_on_disk`.
        self._database.execute("PRAGMA synchronous = NORMAL")
        self._database.executescript(SCHEMA)
        self.repeated = self._count("SELECT count(*) FROM waiting WHERE started")
        self._run("UPDATE waiting SET started = 0 WHERE started")

    def __len__(self) -> int:
        return self._count("SELECT count(*) FROM waiting")

    def add(self, records: Iterable[QueuedRecord]) -> int:
        """Adds records in one durable transaction; returns how many found no room.

        Skips a record that waits or was judged with the same content.
        """
        candidates = list(records)
        # Read before the lock is held: the bound is a soft one.
        room = max(0, self.limit - len(self))
        with self._lock, self._on_disk(), self._database as database:
            database.execute("BEGIN IMMEDIATE")
            for record in candidates[:room]:
                database.execute(_ADD, {name: getattr(record, name) for name in record.__slots__})
        return max(0, len(candidates) - room)

    def overdue(self, now: float) -> int:
        """The records that are due at `now` (seconds, epoch) and wait for their first turn."""
        return self._count(
            "SELECT count(*) FROM waiting WHERE due <= ? AND NOT started AND rounds = 0", (now,)
        )

    def oldest_due(self) -> float | None:
        """When the record that waits longest was due at first (seconds, epoch); None if none waits.

        0 if a record was put back: nobody knows how long it has waited.
        """
        oldest = self._run(
            "SELECT min(CASE WHEN rounds > 0 THEN 0 ELSE due END) FROM waiting WHERE stream = ?",
            (Stream.BASE.value,),
        )[0][0]
        return None if oldest is None else float(str(oldest))

    def due(self, now: float, limit: int) -> list[QueuedRecord]:
        """Takes up to `limit` records that are due at `now` (seconds, epoch), the longest first."""
        # One statement: two threads cannot take the same record.
        rows = self._run(
            "UPDATE waiting SET started = 1 WHERE (trace_id, record_id) IN ("
            "SELECT trace_id, record_id FROM waiting WHERE due <= ? AND NOT started "
            "ORDER BY due LIMIT ?) "
            "RETURNING trace_id, record_id, content, stream, probability, due, rounds",
            (now, limit),
        )
        return sorted((_queued_record(row) for row in rows), key=lambda record: record.due)

    def finish(self, records: Iterable[QueuedRecord], now: float) -> None:
        """Removes records whose verdicts are durable; a record that changed meanwhile stays."""
        with self._lock, self._database as database:
            database.execute("BEGIN IMMEDIATE")
            for record in records:
                key = (record.trace_id, record.record_id, record.content)
                database.execute(
                    "DELETE FROM waiting WHERE (trace_id, record_id, content) = (?, ?, ?)", key
                )
                # Also for a record that changed: what was judged is not to be judged again.
                database.execute("INSERT OR REPLACE INTO judged VALUES (?, ?, ?, ?)", (*key, now))

    def put_back(self, record: QueuedRecord, due: float) -> None:
        """Returns a record to the queue until `due` (seconds, epoch), one round later."""
        self._run(
            "UPDATE waiting SET started = 0, due = ?, rounds = ? "
            "WHERE (trace_id, record_id, content) = (?, ?, ?)",
            (due, record.rounds + 1, record.trace_id, record.record_id, record.content),
        )

    def forget(self, before: float) -> None:
        """Forgets what was judged before a time: no late span changes it any more."""
        self._run("DELETE FROM judged WHERE at < ?", (before,))

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._database.close()

    @contextmanager
    def _on_disk(self) -> Iterator[None]:
        """Makes the commit wait for the disk; other commits may be lost, and are then repeated."""
        self._database.execute("PRAGMA synchronous = FULL")
        yield
        self._database.execute("PRAGMA synchronous = NORMAL")

    def _run(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
        with self._lock:
            return self._database.execute(statement, values).fetchall()

    def _count(self, query: str, values: tuple[object, ...] = ()) -> int:
        return int(str(self._run(query, values)[0][0]))


def _queued_record(row: tuple[object, ...]) -> QueuedRecord:
    trace_id, record_id, content, stream, probability, due, rounds = row
    return QueuedRecord(
        trace_id=str(trace_id),
        record_id=str(record_id),
        content=str(content),
        stream=Stream(str(stream)),
        probability=float(str(probability)),
        due=float(str(due)),
        rounds=int(str(rounds)),
    )
