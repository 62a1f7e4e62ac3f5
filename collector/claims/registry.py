"""The registered conventions: the entry points of the group `ragvigil.conventions`."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint
from types import ModuleType
from typing import NamedTuple

from collector.claims.claim import Convention
from ragvigil.model.plugin import HOUSE, LeftOut, Plugins, own, plug_in

GROUP = "ragvigil.conventions"


class NotAConvention(TypeError):
    """A plug-in is not a convention; `str(error)` says what is wrong with it."""


class RegisteredConvention(NamedTuple):
    """A convention with its registered name and its roots."""

    name: str
    convention: Convention | ModuleType
    roots: frozenset[str]


@cache
def registered() -> tuple[RegisteredConvention, ...]:
    """All conventions that load, sorted by name; raises if one of ragvigil's own does not load."""
    house = (with_roots(point.name, point.load()) for point in own(GROUP))
    return tuple(sorted((*house, *_outside().loaded), key=lambda entry: entry.name))


def conventions_left_out() -> tuple[LeftOut, ...]:
    """The third-party conventions that cannot be used; does not load ragvigil's own."""
    return _outside().left_out


def with_roots(name: str, convention: Convention | ModuleType) -> RegisteredConvention:
    """A convention with the roots that it declares; no roots means every span."""
    return RegisteredConvention(name, convention, frozenset(getattr(convention, "ROOTS", ())))


@cache
def _outside() -> Plugins[RegisteredConvention]:
    return plug_in(GROUP, _load)


def _load(point: EntryPoint) -> RegisteredConvention:
    if any(point.name == entry.name for entry in own(GROUP)):
        raise NotAConvention(f"the name {point.name} is taken by {HOUSE}")
    convention = point.load()
    if not callable(getattr(convention, "claims", None)):
        raise NotAConvention(f"{point.value} has no function claims")
    roots: object = getattr(convention, "ROOTS", frozenset())
    if not isinstance(roots, set | frozenset | tuple | list):
        raise NotAConvention(f"{point.value}: ROOTS is not a set of names: {roots!r}")
    return with_roots(point.name, convention)
