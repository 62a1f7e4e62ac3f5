"""What an erasure removed, on a terminal."""

from __future__ import annotations

from rich.console import Console

from ragvigil.app.cli.output.console import JsonObject, prints, table_of


@prints
def print_erasure(reply: JsonObject, console: Console) -> None:
    """Rows by table, and what is left."""
    if reply["state"] != "done":
        console.print(f"not erased: {reply['step']}")
        return
    console.print(f"erased: {reply['traces']} traces")
    if rows := {name: count for name, count in reply["rows"].items() if count}:
        table = table_of("what", "removed")
        for name, count in sorted(rows.items()):
            table.add_row(name, str(count))
        console.print(table)
    if reply["is_in_spool"]:
        console.print(
            "The spool drops its copy by itself, within about a quarter of an hour of its being "
            f"read; /api/v1/erasures/{reply['id']} then says so."
        )
    if cases := reply["golden_cases"]:
        console.print(f"Golden cases with its texts, for a person to decide: {', '.join(cases)}")
