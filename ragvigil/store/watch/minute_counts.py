"""Counts per place and minute: counted again from the records of all daemons, never added to.

So a span that is sent again, a trace that is scored again, a process that dies between two
statements and another analyst that takes over change nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragvigil.model.identity import identity
from ragvigil.store.engine.priority import Priority

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

MINUTE = 60
EVERYBODY = ""
"""The replica of the counts: whoever counts, it is of all records, and replaces what was there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A table of such counts, the statement that counts minutes, and its parameters.

    `at_once` is the longest span of minutes, in seconds, that one statement counts: it bounds the
    memory.
    """

    table: str
    statement: str
    at_once: int
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def form(self) -> str:
        """What is counted: other parameters make other counts."""
        return identity(sorted(self.parameters.items()))


@dataclass(frozen=True, slots=True, kw_only=True)
class RolledUp:
    """Minutes (starts, seconds) whose roll-ups changed after a version, and the newest version.

    `stamps` has the newest version of each minute, and the rows that were read of it: by these a
    later query sees what it has read before, and whether more of a version was written.
    """

    stamps: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    version: int = 0
    rows: int = 0


def rolled_up(store: Store, version: int, first: int) -> RolledUp:
    """Minutes since `first` whose roll-ups changed after `version`. Raises StoreError."""
    parameters = {"version": version, "first": max(0, first)}
    rows = store.read("rollup_minutes_changed", parameters, priority=Priority.TICK)
    if not rows:
        return RolledUp()
    newest = max(int(row["version"]) for row in rows)
    return RolledUp(
        stamps={int(row["minute"]): (int(row["version"]), int(row["rows"])) for row in rows},
        version=newest,
        rows=sum(int(row["rows"]) for row in rows if int(row["version"]) == newest),
    )


def uncounted(store: Store, counted: Counted, first: int) -> list[int]:
    """Minutes since `first` whose roll-ups are newer than the counts of that form.

    Raises StoreError.
    """
    parameters = {
        "table": counted.table,
        "first": max(0, first),
        "replica": EVERYBODY,
        "form": counted.form,
    }
    rows = store.read("minutes_uncounted", parameters, priority=Priority.TICK)
    return [int(row["minute"]) for row in rows]


def newest_version(store: Store, counted: Counted) -> int:
    """The newest version that was written; 0 before the first. Raises StoreError."""
    parameters = {"table": counted.table, "replica": EVERYBODY}
    (row,) = store.read("minutes_version", parameters, priority=Priority.TICK)
    return int(row["version"])


def count(
    store: Store, counted: Counted, minutes: Iterable[int], *, rolled_up: int, version: int
) -> None:
    """Counts these minutes again, of roll-ups whose newest known version is `rolled_up`.

    `version` must be newer than all that were written. Raises StoreError.
    """
    for piece in _pieces(sorted(set(minutes)), counted.at_once):
        place = {"first": piece[0], "end": piece[-1] + MINUTE, "minutes": piece}
        writer = {"replica": EVERYBODY, "epoch": store.epoch}
        stamps = {"rolled_up": rolled_up, "version": version, "form": counted.form}
        store.run(counted.statement, {**counted.parameters, **place, **writer, **stamps})


def replaced(
    store: Store, table: str, seen: Mapping[str, int], first: int
) -> tuple[list[int], dict[str, int]]:
    """Minutes since `first` that a replica counted after the version of it that was `seen`.

    Returns them with the newest version of every replica. A version each: their clocks differ.
    Raises StoreError.
    """
    parameters = {
        "table": table,
        "replicas": list(seen),
        "versions": list(seen.values()),
        "first": max(0, first),
    }
    rows = store.read("minutes_counted", parameters, priority=Priority.TICK)
    newest = {**seen, **{row["replica"]: int(row["version"]) for row in rows}}
    return sorted({int(minute) for row in rows for minute in row["minutes"]}), newest


def _pieces(minutes: Sequence[int], seconds: int) -> Iterator[list[int]]:
    """Groups of minutes that lie within so many seconds."""
    piece: list[int] = []
    for minute in minutes:
        if piece and minute - piece[0] >= seconds:
            yield piece
            piece = []
        piece.append(minute)
    if piece:
        yield piece
