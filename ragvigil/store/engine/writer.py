"""Stores a batch, table by table; refused rows go to quarantine.

An attempt may fail anywhere and be repeated. The database knows by its token what a table already
has, and rows that were inserted under another token are replaced by key.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

from ragvigil.store import metrics
from ragvigil.store.engine.batch import Batch, QuarantinedRow, Row, Rows, Tombstones, WriteResult
from ragvigil.store.engine.columns import Columns
from ragvigil.store.engine.erased import Erased
from ragvigil.store.engine.errors import Refused, WriterStopped, write_failure
from ragvigil.store.engine.guarded import Guard, insert_guarded
from ragvigil.store.engine.table import declare
from ragvigil.store.queries import query

if TYPE_CHECKING:
    from clickhouse_connect.datatypes.base import ClickHouseType
    from clickhouse_connect.driver.client import Client

REFUSED_SHARE = 0.01
REMEMBERED_ROWS = 10_000
"""The share is taken over this many rows, so that one bad row in a quiet hour stops nothing."""
LEAST_ROWS = 2000
"""A shorter history counts as this many rows, for the same reason."""
MAX_ROW_CHARACTERS = 1 << 20
MOST_CHARACTERS = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 256
"""Of one text. clickhouse-connect 1.12 reserves 64 times the bytes of a long text and does not
look whether it got them: where it does not, the process ends."""
_GONE_TABLES = ("records", "record_shapes", "scores")
_QUARANTINE = declare(
    "quarantine",
    ("time", "table", "reason", "trace_id", "span_id", "row", "replica", "epoch"),
)

_DIRTY = declare("dirty_minutes", ("minute", "token", "replica", "epoch"))


@dataclass(slots=True)
class RefusedShare:
    """Counts which share of the last rows was refused."""

    recent: deque[tuple[int, int]] = field(default_factory=deque)
    rows: int = 0
    refused: int = 0

    def add(self, rows: int, refused: int) -> None:
        """Counts an insert and forgets the oldest ones."""
        self.recent.append((rows, refused))
        self.rows += rows
        self.refused += refused
        while self.recent and self.rows - self.recent[0][0] >= REMEMBERED_ROWS:
            old_rows, old_refused = self.recent.popleft()
            self.rows -= old_rows
            self.refused -= old_refused

    def is_too_high(self) -> bool:
        """Whether more than 1 % of the last rows were refused; fewer than 2,000 count as 2,000."""
        return self.refused > REFUSED_SHARE * max(self.rows, LEAST_ROWS)


@dataclass(slots=True)
class Attempt:
    """A batch that is being stored; remembers what is done, so that a retry does the rest."""

    batch: Batch
    done: dict[str, int] = field(default_factory=dict)
    quarantined: list[QuarantinedRow] = field(default_factory=list)


class Writer:
    """Stores batches through one client. Not thread-safe: the store's thread owns it.

    Raises SchemaMismatch where a column that this version writes does not exist.
    """

    def __init__(
        self,
        client: Client,
        *,
        replica: str,
        epoch: int,
        clock: Callable[[], float],
        erased: Erased | None = None,
        guard: Guard = lambda _: "",
        is_announcing: Callable[[], bool] = lambda: False,
    ) -> None:
        self._client = client
        self._erased = erased or Erased()
        self._columns = Columns.read(client)
        self._columns.check()
        self._writer = (replica, epoch)
        self._clock, self._guard = clock, guard
        self._is_announcing = is_announcing
        self._share = RefusedShare()

    def write(self, attempt: Attempt) -> WriteResult:
        """Stores the tables that are not stored yet, in their order.

        Raises Unavailable if the attempt is to be repeated, Fenced if it never may be, and
        WriterStopped if too many rows were refused.
        """
        batch = self._erased.without(attempt.batch)
        for table, rows in batch.rows.items():
            if table not in attempt.done:
                attempt.done[table] = self._store(table, rows, batch.token, attempt.quarantined)
        for gone in batch.gone:
            self._bury(gone)
        if self._is_announcing() and batch.minutes:
            self._announce(batch)
        return WriteResult(
            rows=dict(attempt.done), quarantined=tuple(attempt.quarantined), minutes=batch.minutes
        )

    def _announce(self, batch: Batch) -> None:
        """Writes which minutes the batch has changed, for the analyst: last, so that it finds all
        of it."""
        rows = [(minute, batch.token, *self._writer) for minute in sorted(batch.minutes)]
        self._insert("dirty_minutes", Rows(_DIRTY, rows), f"{batch.token}:dirty_minutes")

    def _store(self, table: str, rows: Rows, token: str, quarantined: list[QuarantinedRow]) -> int:
        if not rows:
            return 0
        refused: list[tuple[Row, str]] = []
        self._halve(table, rows, f"{token}:{table}", refused)
        self._share.add(len(rows) - len(refused), 0)
        if refused:
            quarantined += self._quarantine(
                table, rows.columns, refused, f"{token}:{table}:quarantine"
            )
        metrics.ROWS_WRITTEN.labels(table).inc(len(rows) - len(refused))
        return len(rows) - len(refused)

    def _halve(self, table: str, rows: Rows, token: str, refused: list[tuple[Row, str]]) -> None:
        """Stores the rows; if they are refused, stores each half, down to the row to blame."""
        try:
            self._insert(table, rows, token)
        except Refused as reason:
            if len(rows) == 1:
                refused.append((rows.values[0], str(reason)))
                self._share.add(1, 1)
                self._stop_if_too_many(table, str(reason))
                return
            middle = len(rows) // 2
            for place, half in enumerate((rows.values[:middle], rows.values[middle:])):
                # Halves have tokens of their own: a retry halves alike and stores none twice.
                self._halve(table, Rows(rows.columns, half), f"{token}:{place}", refused)

    def _stop_if_too_many(self, table: str, reason: str) -> None:
        if self._share.is_too_high():
            raise WriterStopped(
                f"more than {REFUSED_SHARE:.0%} of the last rows were refused; "
                f"the last one, of the table {table}: {reason}"
            )

    def _insert(self, table: str, rows: Rows, token: str) -> None:
        condition = self._guard(table)
        types = self._columns.types(table, rows.columns)
        columns = list(zip(*rows.values, strict=True))
        try:
            if (characters := max(map(longest_text, columns, types), default=0)) > MOST_CHARACTERS:
                raise ValueError(f"a text of {characters} characters is too long")
            insert_guarded(
                self._client,
                table,
                condition,
                data=columns,
                column_names=rows.columns,
                column_types=types,
                column_oriented=True,
                settings={"insert_deduplication_token": token},
            )
        except Exception as error:  # the driver raises many kinds; each is retried or refused
            raise write_failure(error) from error
        finally:
            # The driver's context refers to itself, so that it would hold the rows until the
            # next garbage collection.
            columns.clear()

    def _quarantine(
        self,
        table: str,
        columns: Sequence[str],
        refused: list[tuple[Row, str]],
        token: str,
    ) -> list[QuarantinedRow]:
        now = int(self._clock() * 1e9)
        quarantined, rows = [], []
        for values, reason in refused:
            row = dict(zip(columns, values, strict=False))
            bad = _named(table, row, reason)
            quarantined.append(bad)
            rows.append(
                (now, table, bad.reason, bad.trace_id, bad.span_id, _shown(row), *self._writer)
            )
        self._insert("quarantine", Rows(_QUARANTINE, rows), token)
        metrics.ROWS_QUARANTINED.labels(table).inc(len(rows))
        return quarantined

    def _bury(self, gone: Tombstones) -> None:
        """Writes tombstones over the rows of records that the new generation lacks."""
        parameters = {
            "minute": gone.minute,
            "trace_id": gone.trace_id,
            "generation": gone.generation,
            "record_ids": list(gone.record_ids),
        }
        try:
            for table in _GONE_TABLES:
                self._client.command(query(f"bury_{table}"), parameters=parameters)
        except Exception as error:
            raise write_failure(error) from error


def longest_text(values: Iterable[Any], kind: ClickHouseType) -> int:
    """Characters of the longest text of a column, in lists and mappings too.

    Goes by the column's type and not by each value's own: a batch has half a million values.
    Raises TypeError or AttributeError for a value of another type.
    """
    from clickhouse_connect.datatypes.container import Array, Map
    from clickhouse_connect.datatypes.string import String

    if isinstance(kind, String):
        return max(map(len, filter(None, values) if kind.nullable else values), default=0)
    if isinstance(kind, Array):
        return longest_text(chain.from_iterable(values), kind.element_type)
    if isinstance(kind, Map):
        maps = list(values)
        inner = chain.from_iterable(each.values() for each in maps)
        return max(
            longest_text(chain.from_iterable(maps), kind.key_type),
            longest_text(inner, kind.value_type),
        )
    return 0


def _named(table: str, row: Mapping[str, object], reason: str) -> QuarantinedRow:
    def text(*columns: str) -> str:
        return next((_clean(row[column]) for column in columns if column in row), "")

    return QuarantinedRow(
        table=table,
        trace_id=text("TraceId", "trace_id"),
        span_id=text("SpanId", "record_id", "span_id"),
        reason=_clean(reason),
    )


def _shown(row: Mapping[str, object]) -> str:
    return _clean(json.dumps(row, default=repr, ensure_ascii=True))[:MAX_ROW_CHARACTERS]


def _clean(value: object) -> str:
    """The value as text that UTF-8 can encode."""
    return str(value).encode("utf-8", "replace").decode("utf-8")
