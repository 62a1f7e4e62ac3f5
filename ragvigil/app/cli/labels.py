"""`ragvigil labels import|list|judges`: what people say, and what that says of judges."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ragvigil.app.cli.options import Config, Json

labels = typer.Typer(
    help="What people say of answers, and how far the judge is believed.", no_args_is_help=True
)

Rubric = Annotated[str | None, typer.Option(help="This rubric only.")]


@labels.command("import")
def import_(
    file: Annotated[
        Path, typer.Argument(help="JSON lines, or .csv with a heading; - reads JSON lines.")
    ],
    config: Config = None,
    labeller: Annotated[str, typer.Option(help="Who said it, where a line does not say.")] = "",
    json: Json = False,
) -> None:
    """Sends labels to the daemon; lines that are wrong are named and left out, and exit 1.

    A line has rubric, trace_id, value (0 to 1, pass or fail) or label, and may have record_id,
    labeller, comment, time, label_id, source. The same file again changes nothing.
    """
    from ragvigil.app.cli.labels_file import import_labels
    from ragvigil.app.settings import load

    sys.exit(import_labels(file, load(config), labeller=labeller, as_json=json))


@labels.command("list")
def list_(
    config: Config = None,
    rubric: Rubric = None,
    since: Annotated[str, typer.Option(help="ISO 8601, epoch seconds, or like 7d.")] = "400d",
    limit: Annotated[int, typer.Option(help="At most so many.")] = 100,
    json: Json = False,
) -> None:
    """Labels, newest first."""
    from ragvigil.app.cli import api_client
    from ragvigil.app.cli.output import text as show
    from ragvigil.app.settings import load

    found = api_client.get(load(config), "labels", rubric=rubric, since=since, limit=limit)
    show.labels(found, as_json=json)


@labels.command("judges")
def judges(config: Config = None, rubric: Rubric = None, json: Json = False) -> None:
    """Per rubric and judge: kappa, agreement, state and why, the level that people would find."""
    from ragvigil.app.cli import api_client
    from ragvigil.app.cli.output import text as show
    from ragvigil.app.settings import load

    show.judges(api_client.get(load(config), "judges", rubric=rubric), as_json=json)
