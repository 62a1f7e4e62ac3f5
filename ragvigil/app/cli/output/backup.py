"""Backups on a terminal."""

from __future__ import annotations

from rich.console import Console

from ragvigil.app.cli.output.console import JsonObject, prints


@prints
def print_backup(reply: JsonObject, console: Console) -> None:
    """Where it is, or why there is none."""
    if reply["state"] == "done":
        console.print(f"backup {reply['name']} made in {reply['folder']}")
    else:
        console.print(f"no backup {reply['name']}: {reply['problem']}")


@prints
def print_restored(reply: JsonObject, console: Console) -> None:
    """How many rows, and that every part was read."""
    rows = reply["rows"]
    verb = "can be restored" if reply["is_check"] else "restored"
    console.print(
        f"{verb}: {sum(rows.values())} rows in {len(rows)} tables, every part read and whole "
        f"({rows.get('records', 0)} rows of answers)"
    )
