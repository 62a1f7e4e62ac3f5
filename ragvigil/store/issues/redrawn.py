"""Answers that draw on other chunks than before, or cite the same ones at other sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragvigil.store.engine.priority import Priority

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store
    from ragvigil.store.issues.failing_changes import Key

DAY = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class RedrawnMinute:
    """A minute of a route: the answers whose question was asked before, and those that differ.

    The `redrawn` draw on other chunks; of the others the `recited` cite the same chunks at other
    sentences.
    """

    route: str
    start: int
    answers: int
    redrawn: tuple[Key, ...]
    recited: tuple[Key, ...] = ()


def read(
    store: Store, service: str, environment: str, *, until: int, first: int, end: int
) -> list[RedrawnMinute]:
    """The minutes of first..end, compared with the day until `until`. All in seconds.

    Raises StoreError.
    """
    window = {
        "service": service,
        "environment": environment,
        "since": max(0, until - DAY),
        "until": until,
        "first": first,
        "end": end,
    }
    return [
        RedrawnMinute(
            route=row["route"],
            start=int(row["start"]),
            answers=int(row["answers"]),
            redrawn=tuple(map(tuple, row["redrawn"])),
            recited=tuple(map(tuple, row["recited"])),
        )
        for row in store.read("redrawn", window, priority=Priority.TICK)
    ]
