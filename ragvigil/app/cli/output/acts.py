"""The log of acts on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ragvigil.app.cli.output.console import JsonObject, prints, table_of


@prints
def print_acts(reply: JsonObject, console: Console) -> None:
    """A line an act."""
    if not reply["acts"]:
        console.print("nobody has done anything that matches")
        return
    table = table_of("time", "person", "role", "did", "to", "on")
    for act in reply["acts"]:
        time = act["time"][:19].replace("T", " ")
        cells = (time, act["person"], act["role"], act["verb"], act["thing"], act["place"])
        table.add_row(*map(Text, cells))
    console.print(table)
    if reply["next"]:
        console.print("There are more: narrow them down, or raise --limit.")
