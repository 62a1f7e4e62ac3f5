"""Which conventions there are: the entry points of the group `ragvigil.conventions`."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from types import ModuleType
from typing import NamedTuple

from collector.claims.claim import Convention

GROUP = "ragvigil.conventions"


class Registered(NamedTuple):
    """A convention under its registered name."""

    name: str
    convention: Convention | ModuleType
    roots: frozenset[str]


@cache
def registered() -> tuple[Registered, ...]:
    """All registered conventions, by name; loaded once per process."""
    return tuple(
        named(point.name, point.load())
        for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)
    )


def named(name: str, convention: Convention | ModuleType) -> Registered:
    """A convention with the roots that it declares; none declared means every span."""
    return Registered(name, convention, frozenset(getattr(convention, "ROOTS", ())))
