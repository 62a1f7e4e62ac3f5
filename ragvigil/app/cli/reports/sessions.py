"""`ragvigil sessions`: are users helped, and how often must they ask again?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragvigil.app.cli.input import triage
from ragvigil.app.cli.input.options import Config, Json, asks_daemon

if TYPE_CHECKING:
    from rich.console import Console

    from ragvigil.app.cli.output.console import JsonObject


@asks_daemon
def sessions(
    config: Config = None,
    service: Annotated[str | None, typer.Option(help="This service only.")] = None,
    since: Annotated[str, typer.Option(help="ISO 8601, or how long ago: 6h, 7d.")] = "7d",
    json: Json = False,
) -> None:
    """Are users helped: turns to resolution, questions asked again, escalations, two rubrics."""
    from ragvigil.app.cli.output.console import prints

    reply = triage.fetch(config, "sessions", service=service, since=since)
    prints(_show)(reply, as_json=json)


def _show(reply: JsonObject, console: Console) -> None:
    from ragvigil.app.cli.output.console import place_of, print_line
    from ragvigil.model import figures

    for row in reply["services"]:
        number, turns = (figures.counted(row[name], name[:-1]) for name in ("sessions", "turns"))
        print_line(console, f"{place_of(row)}: {number}, {turns}", style="bold")
        mean = row["turns_to_resolution"]
        print_line(console, f"  turns to resolution  {'–' if mean is None else f'{mean:.1f}'}")
        print_line(console, f"  retries              {_share(row['retries'])} of later turns")
        by = f"by {row['by']}" + (f": {row['why']}" if row["why"] else "")
        again = _share(row["reformulations"])
        print_line(console, f"  reformulations       {again} of later turns, {by}")
        print_line(console, f"  escalations          {_share(row['escalations'])} of sessions")
        for rubric in row["rubrics"]:
            mean = rubric["mean"]
            words = "–" if mean is None else _mean(mean)
            print_line(console, f"  {rubric['rubric']:<20} {words}  {rubric['asks']}")
    if not reply["services"]:
        console.print("no answer has a session id: see `ragvigil doctor`")
    elif reply["share"] < 1:
        console.print(f"of {figures.share(reply['share'])} of the sessions")


def _share(figure: JsonObject | None) -> str:
    from ragvigil.model import figures

    if figure is None:
        return "–"
    low, high = figures.share(figure["low"]), figures.share(figure["high"])
    return f"{figures.share(figure['value'])} [{low}, {high}]"


def _mean(figure: JsonObject) -> str:
    from ragvigil.model import figures

    low, high = figures.score(figure["low"]), figures.score(figure["high"])
    return f"{figures.score(figure['value'])} [{low}, {high}]"
