"""Reads dashboards as Grafana does: their panels, their queries, their variables' values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Board = Mapping[str, Any]
LABEL_VALUES = re.compile(r"label_values\((?P<metric>.+), (?P<label>\w+)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A query of a dashboard: of which panel, and whether it asks for one moment only."""

    panel: str
    expr: str
    is_instant: bool


def panels(board: Board) -> Iterator[Mapping[str, Any]]:
    """All panels but rows, those inside of collapsed rows included."""
    for panel in board["panels"]:
        if panel["type"] != "row":
            yield panel
        yield from panel.get("panels", ())


def queries(board: Board) -> Iterator[Asked]:
    """Of all panels and annotations, with their variables as they stand in the file."""
    for panel in panels(board):
        for target in panel["targets"]:
            is_instant = bool(target.get("instant"))
            yield Asked(panel=panel["title"], expr=target["expr"], is_instant=is_instant)
    for mark in board["annotations"].get("list", ()):
        yield Asked(panel=f"annotation {mark['name']}", expr=mark["expr"], is_instant=False)


def variables(board: Board) -> list[Mapping[str, Any]]:
    """In the order in which Grafana fills them."""
    return list(board["templating"]["list"])


def substituted(expr: str, values: Mapping[str, str]) -> str:
    """`expr` with Grafana's variables replaced. Raises KeyError for one without a value."""
    return re.sub(r"\$\{?(\w+)\}?", lambda found: values[found[1]], expr)
