"""What was erased must not be written again: by a replay, a late span, or a judge that was slow.

Held are hashes alone. They come from the table `erasures` when the store opens, and from each
erasure as it begins.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum

from ragvigil.model.identity import identity
from ragvigil.store import metrics
from ragvigil.store.engine.batch import Batch, Rows


class Subject(StrEnum):
    """What an erasure names."""

    TRACE = "trace"
    USER = "user"
    SESSION = "session"


ATTRIBUTES = {Subject.USER: "(?i)user", Subject.SESSION: "(?i)session|conversation|thread"}
"""Attributes of a span that may hold the id: what matches, and has exactly this value, names it."""
_ATTRIBUTES = {subject: re.compile(pattern) for subject, pattern in ATTRIBUTES.items()}
_COLUMNS = {Subject.USER: "user_id", Subject.SESSION: "session_id"}
_TRACE = {"spans": "TraceId"}


def erased_hash(subject: Subject, id_: str) -> str:
    """The hash that stands for an id: 32 hex digits."""
    return identity(subject, id_, size=16)


class Erased:
    """Leaves erased rows out of batches. The store's thread filters, any thread adds.

    A trace is erased for good. A user or a session is erased in what was received until then:
    whoever comes back later is stored.
    """

    def __init__(self) -> None:
        self.count = 0
        """Grows with each erasure: texts of chunks that were written before may be gone."""
        self._lock = threading.Lock()
        self._traces: frozenset[str] = frozenset()
        self._subjects: Mapping[str, int] = {}

    def add(self, traces: Iterable[str], subject: str = "", until: int = 0) -> None:
        """Adds hashes of traces; `subject`, received `until` (seconds since the epoch), too."""
        more = frozenset(traces)
        with self._lock:
            self._traces |= more
            if subject:
                self.count += 1
                self._subjects = {**self._subjects, subject: until}

    def has_trace(self, trace_id: str) -> bool:
        """Whether this trace was erased."""
        return bool(self._traces) and erased_hash(Subject.TRACE, trace_id) in self._traces

    def without(self, batch: Batch) -> Batch:
        """The batch without rows of erased traces; a trace that names an erased user is one too."""
        if not (self._traces or self._subjects):
            return batch
        ids = {id_ for table, rows in batch.rows.items() for id_ in _traces_of(table, rows)}
        gone = self._named(batch.rows) | {id_ for id_ in ids if self.has_trace(id_)}
        if not gone:
            return batch
        self.add(erased_hash(Subject.TRACE, id_) for id_ in gone)
        rows = {table: _without(table, rows, gone) for table, rows in batch.rows.items()}
        metrics.ERASED_ROWS.inc(sum(map(len, batch.rows.values())) - sum(map(len, rows.values())))
        buried = tuple(each for each in batch.gone if each.trace_id not in gone)
        return replace(batch, rows=rows, gone=buried)

    def _named(self, tables: Mapping[str, Rows]) -> set[str]:
        """Traces of records and spans that name an erased user or session, received before."""
        if not self._subjects:
            return set()
        gone: set[str] = set()
        for values in _as_mappings(tables.get("records")):
            for subject, column in _COLUMNS.items():
                if self._is_erased(subject, values[column], values["received"]):
                    gone.add(str(values["trace_id"]))
        for values in _as_mappings(tables.get("spans")):
            attributes = values["SpanAttributes"]
            assert isinstance(attributes, Mapping)
            for subject, pattern in _ATTRIBUTES.items():
                if any(
                    pattern.search(key) and self._is_erased(subject, value, values["Received"])
                    for key, value in attributes.items()
                ):
                    gone.add(str(values["TraceId"]))
        return gone

    def _is_erased(self, subject: Subject, id_: object, received: object) -> bool:
        until = self._subjects.get(erased_hash(subject, str(id_))) if id_ else None
        return until is not None and int(str(received)) <= until


def _traces_of(table: str, rows: Rows) -> set[str]:
    place = _place(table, rows)
    return set() if place is None else {str(row[place]) for row in rows.values}


def _without(table: str, rows: Rows, gone: set[str]) -> Rows:
    place = _place(table, rows)
    if place is None:
        return rows
    return Rows(rows.columns, [row for row in rows.values if row[place] not in gone])


def _place(table: str, rows: Rows) -> int | None:
    column = _TRACE.get(table, "trace_id")
    return rows.columns.index(column) if column in rows.columns else None


def _as_mappings(rows: Rows | None) -> Iterable[dict[str, object]]:
    return (dict(zip(rows.columns, row, strict=False)) for row in rows.values) if rows else ()
