"""Plug-ins: the entry points of other distributions, and why any of them is left out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

HOUSE = "ragvigil"
"""Our own distribution, whose entry points must load."""

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A plug-in that is not used; `str(left_out)` is the line for the user."""

    group: str
    name: str
    distribution: str
    reason: str

    def __str__(self) -> str:
        return f"{self.group}: {self.name} of {self.distribution} is left out: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugins(Generic[Made]):
    """The plug-ins of one group, in a fixed order, and those that are left out."""

    loaded: tuple[Made, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


def own(group: str) -> list[EntryPoint]:
    """Our own entry points of `group`, by name."""
    return sorted(
        (point for point in entry_points(group=group) if _is_own(point)),
        key=lambda point: point.name,
    )


def others(group: str) -> list[EntryPoint]:
    """The entry points of other distributions, by distribution and name."""
    return sorted(
        (point for point in entry_points(group=group) if not _is_own(point)),
        key=lambda point: (distribution(point), point.name),
    )


def plug_in(group: str, make: Callable[[EntryPoint], Made]) -> Plugins[Made]:
    """Calls `make` for each entry point of others; an error of a plug-in leaves it out."""
    loaded: list[Made] = []
    left_out: list[LeftOut] = []
    for point in others(group):
        try:
            loaded.append(make(point))
        except (Exception, SystemExit) as error:  # the border with plug-in code: the user is told
            left_out.append(refusal(point, f"{type(error).__name__}: {error}".removesuffix(": ")))
    return Plugins(loaded=tuple(loaded), left_out=tuple(left_out))


def refusal(point: EntryPoint, reason: str) -> LeftOut:
    """An entry point that is left out; `reason` is put on one line."""
    return LeftOut(
        group=point.group,
        name=point.name,
        distribution=distribution(point),
        reason=" ".join(reason.split()),
    )


def distribution(point: EntryPoint) -> str:
    """Name of the distribution that registered an entry point."""
    return (point.dist.name if point.dist else None) or "a distribution without a name"


def _is_own(point: EntryPoint) -> bool:
    return re.sub(r"[-_.]+", "-", distribution(point)).lower() == HOUSE
