"""What is written at once: rows by table, in the order in which the tables are filled."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

Row: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one table; each holds the values of these columns, in their order.

    A column that is not named takes its default, so that an older version may write to a newer
    schema.
    """

    columns: tuple[str, ...]
    values: Sequence[Row]

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstones:
    """Records that an earlier generation of a trace had and that its newest lacks.

    Their rows are replaced by rows with `gone = 1`, which reads leave out.
    """

    trace_id: str
    minute: int
    generation: int
    record_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Rows by table, which are stored in this order.

    `minutes` are the starts (seconds since the epoch) of the minutes whose roll-ups the rows make
    out of date. `token` names the content: equal batches have equal tokens, and a batch is stored
    once per token; batches that differ must differ in it. `bytes` is the size of its texts.
    """

    rows: Mapping[str, Rows]
    token: str
    minutes: frozenset[int] = frozenset()
    gone: tuple[Tombstones, ...] = ()
    bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantinedRow:
    """A row that the database refused; it is kept in the table `quarantine`."""

    table: str
    trace_id: str
    span_id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteResult:
    """A batch that is durable: rows per table, and those that were refused instead."""

    rows: Mapping[str, int]
    quarantined: tuple[QuarantinedRow, ...] = ()
    minutes: frozenset[int] = field(default=frozenset())


def token_of(*parts: object) -> str:
    """A short name of these values: equal for equal values, another for any difference.

    >>> token_of("a", 1) == token_of("a", 1), token_of("a", 1) == token_of("a1")
    (True, False)
    """
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        text = str(part).encode("utf-8", "surrogatepass")
        digest.update(len(text).to_bytes(8, "little"))
        digest.update(text)
    return digest.hexdigest()
