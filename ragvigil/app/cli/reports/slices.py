"""`ragvigil slices`: which part of the traffic got worse?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragvigil.app.cli.input import triage
from ragvigil.app.cli.input.options import Config, Json, asks_daemon, rubric_names

if TYPE_CHECKING:
    from rich.console import Console

    from ragvigil.app.cli.output.console import JsonObject

MOST_LINES = 20


@asks_daemon
def slices(
    config: Config = None,
    service: Annotated[str | None, typer.Option(help="This service only.")] = None,
    dimension: Annotated[
        str | None, typer.Option(help="slice, topic, language, tier, tenant or locale only.")
    ] = None,
    rubric: Annotated[
        str | None, typer.Option(help="This rubric only.", autocompletion=rubric_names)
    ] = None,
    json: Json = False,
) -> None:
    """Which part of the traffic got worse, against its own past: topic, language, tier."""
    from ragvigil.app.cli.output.console import prints

    reply = triage.fetch(config, "slices", service=service, dimension=dimension, rubric=rubric)
    prints(_show)(reply, as_json=json)


def _show(reply: JsonObject, console: Console) -> None:
    """What is worse in a sentence each, then the widest drops."""
    from ragvigil.app.cli.output.console import place_of, print_line, table_of
    from ragvigil.model import figures

    rows = reply["slices"]
    if not rows:
        console.print("no slices yet: they need answers with an attribute, and three days of them")
        return
    for row in rows:
        if row["is_worse"]:
            between = figures.between(row["low"], row["high"])
            print_line(
                console,
                f"{place_of(row)}: {row['rubric']} of {row['dimension']} {row['name']} fell by "
                f"{figures.in_points(row['delta'])} ({between}) in {row['window']}, "
                f"{figures.share(row['share'])} of the answers",
                style="bold",
            )
    if not rows[0]["is_worse"]:
        console.print("no slice got worse than the rest of its service")
    table = table_of("slice", "rubric", "window", "share", "mean", "change", "rest", "answers")
    for row in rows[:MOST_LINES]:
        table.add_row(
            f"{row['dimension']} {row['name']}",
            row["rubric"],
            row["window"],
            figures.share(row["share"]),
            figures.score(row["mean"]),
            f"{figures.points(row['delta'])} ({figures.between(row['low'], row['high'])})",
            figures.points(row["rest_delta"]),
            figures.count(row["n"]),
        )
    console.print(table)
    if len(rows) > MOST_LINES:
        console.print(f"and {len(rows) - MOST_LINES} more: --json")
