"""`ragvigil releases`: how each version of a service does, by slice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragvigil.app.cli.input import triage
from ragvigil.app.cli.input.options import Config, Json, asks_daemon

if TYPE_CHECKING:
    from rich.console import Console

    from ragvigil.app.cli.output.console import JsonObject


@asks_daemon
def releases(
    config: Config = None,
    service: Annotated[str | None, typer.Option(help="This service only.")] = None,
    version: Annotated[str | None, typer.Option(help="This version only.")] = None,
    since: Annotated[str, typer.Option(help="ISO 8601, or how long ago: 6h, 7d.")] = "14d",
    json: Json = False,
) -> None:
    """How each version does, by slice: recall, groundedness, refusals, latency, cost."""
    from ragvigil.app.cli.output.console import prints

    reply = triage.fetch(config, "releases", service=service, version=version, since=since)
    prints(_show)(reply, as_json=json)


def _show(reply: JsonObject, console: Console) -> None:
    from ragvigil.app.cli.output.console import minute, place_of, table_of
    from ragvigil.model import figures

    table = table_of(
        "service", "version", "slice", "answers", "recall", "groundedness", "relevance",
        "refused", "p95", "cost", "last seen",
    )  # fmt: skip
    for row in reply["releases"]:
        table.add_row(
            place_of(row),
            row["version"] or "–",
            f"{row['dimension']} {row['name']}".strip() or "all",
            figures.count(row["answers"]),
            *(
                _figure(row[name], figures.score)
                for name in ("context_recall", "groundedness", "answer_relevance")
            ),
            _figure(row["refusal"], figures.share),
            _figure(row["p95_seconds"], figures.duration),
            _figure(row["cost_usd"], figures.money),
            minute(row["last_seen"]),
        )
    if not reply["releases"]:
        console.print(f"no answers since {reply['since'][:10]}")
        return
    console.print(table)
    if reply["share"] < 1:
        console.print(f"of {figures.share(reply['share'])} of the answers, drawn by their trace")


def _figure(figure: Mapping[str, Any] | None, words: Callable[[float | None], str]) -> str:
    """A figure with its interval and number of answers."""
    if figure is None:
        return "–"
    high = "?" if figure["high"] is None else words(figure["high"])
    return f"{words(figure['value'])} [{words(figure['low'])}, {high}] {figure['n']:,}"
