"""What `ragvigil gate` prints: the verdict, its reasons, and a table of what decides or changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console

from ragvigil.app.cli.output.console import JsonObject, print_line, prints, table_of
from ragvigil.model.figures import UNKNOWN, points, score

STYLES = {"pass": "green", "worse": "red", "cannot say": "yellow"}
SAID = ("worse", "better")


@prints
def print_gate(reply: Any, console: Console) -> None:
    """Prints a gate's document."""
    print_line(console, reply["title"], STYLES[reply["state"]])
    for reason in reply["reasons"]:
        print_line(console, f"  {reason}")
    table = table_of(
        "rubric", "layer", "base", "new", "change", "90 % interval", "allowed", "n", "verdict"
    )
    for each in _shown(reply):
        table.add_row(*_cells(each))
    for each in reply["floors"]:
        table.add_row(*_floor_cells(each))
    console.print(table)
    for note in reply["notes"]:
        print_line(console, f"note: {note}", "dim")


def _shown(reply: JsonObject) -> Iterator[JsonObject]:
    """What decides, then what else is worse or better."""
    yield from (each for each in reply["overall"] if each["decides"])
    others = (each for each in reply["overall"] if not each["decides"])
    yield from (each for each in (*reply["slices"], *others) if each["verdict"] in SAID)


def _cells(each: JsonObject) -> Iterator[str]:
    where = "".join(f" where {name} = {value}" for name, value in each["slice"].items())
    yield each["rubric"] + where
    yield each["layer"]
    yield from (score(each["base"]), score(each["new"]), points(each["change"]))
    low, high = each["interval"] or (None, None)
    yield UNKNOWN if low is None else f"{points(low)} to {points(high)}"
    yield from (points(-each["limit"]), str(each["n"]), each["verdict"])


def _floor_cells(each: JsonObject) -> tuple[str, ...]:
    bounds = f"{score(each['low'])} to {score(each['high'])}"
    least = f"≥ {score(each['floor'])}"
    return (
        each["rubric"], "", "", score(each["mean"]), "", bounds, least, str(each["n"]),
        each["verdict"],
    )  # fmt: skip
