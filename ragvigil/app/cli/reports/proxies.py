"""`ragvigil proxies`: does a rubric track what users say?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragvigil.app.cli.input import triage
from ragvigil.app.cli.input.options import Config, Json, asks_daemon

if TYPE_CHECKING:
    from rich.console import Console

    from ragvigil.app.cli.output.console import JsonObject

SIGNALS = {
    "thumbs_down": "thumbs-down",
    "escalation": "escalation",
    "correction": "correction",
    "retry": "retry",
}


@asks_daemon
def proxies(
    config: Config = None,
    service: Annotated[str | None, typer.Option(help="This service only.")] = None,
    since: Annotated[str, typer.Option(help="ISO 8601, or how long ago: 6h, 7d.")] = "14d",
    json: Json = False,
) -> None:
    """Which rubrics track users: each against thumbs-down, escalation, correction and retry."""
    from ragvigil.app.cli.output.console import prints

    reply = triage.fetch(config, "proxies", service=service, since=since)
    prints(_show)(reply, as_json=json)


def _show(reply: JsonObject, console: Console) -> None:
    from ragvigil.app.cli.output.console import place_of, print_line

    for place in reply["services"]:
        for signal in place["signals"]:
            counts = f"{signal['bad']:,} of {signal['n']:,} answers"
            name = SIGNALS[signal["signal"]]
            print_line(console, f"{place_of(place)}: {name}, {counts}", style="bold")
            _print_signal(signal, console)
    if not reply["services"]:
        since = reply["since"][:10]
        console.print(f"no feedback on a scored answer since {since}: see POST /api/v1/feedback")


def _print_signal(signal: JsonObject, console: Console) -> None:
    from ragvigil.app.cli.output.console import table_of

    table = table_of("rubric", "", "AUROC", "lift", "answers", "bad")
    for row in signal["rubrics"]:
        table.add_row(
            row["rubric"],
            row["verdict"],
            _interval(row["auroc"]),
            _interval(row["lift"], times=" ×"),
            f"{row['n']:,}",
            f"{row['bad']:,}",
        )
    console.print(table)
    if together := signal["together"]:
        odds = sorted(together["odds"].items(), key=lambda item: -item[1]["value"])
        named = ", ".join(f"{name} {_interval(ratio)}" for name, ratio in odds)
        console.print(f"all rubrics together: AUROC {_interval(together['auroc'])}")
        console.print(f"odds of one standard deviation lower: {named}")
    else:
        console.print("all rubrics together: too few complaints for a fit")
    console.print()


def _interval(figure: dict[str, Any] | None, times: str = "") -> str:
    """A figure with its interval.

    >>> _interval({"value": 0.7, "low": 0.6, "high": 0.81}), _interval(None)
    ('0.70 [0.60, 0.81]', '–')
    """
    if figure is None:
        return "–"
    return f"{figure['value']:.2f}{times} [{figure['low']:.2f}, {figure['high']:.2f}]"
