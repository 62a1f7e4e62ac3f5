"""`ragvigil labels`: people's labels, and how well judges agree with them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ragvigil.app.cli.input import triage
from ragvigil.app.cli.input.options import Config, Json, asks_daemon, rubric_names, words
from ragvigil.app.client.paths import path_of

labels = typer.Typer(
    help="People's labels, and how well the judge agrees.",
    no_args_is_help=True,
)

Rubric = Annotated[str | None, typer.Option(help="This rubric only.", autocompletion=rubric_names)]


@labels.command("import")
@asks_daemon
def import_(
    file: Annotated[
        Path, typer.Argument(help="JSON lines, or .csv with a heading; - reads JSON lines.")
    ],
    config: Config = None,
    json: Json = False,
) -> None:
    """Sends labels to the daemon. Names wrong lines, leaves them out, and exits 1.

    A line has rubric, trace_id, value (0 to 1, pass or fail) or label, and may have record_id,
    labeller, comment, time, label_id, source. A line of another labeller than the token's person is
    refused. Importing a file twice changes nothing.
    """
    from ragvigil.app.cli.grading.labels_file import import_labels

    sys.exit(import_labels(file, triage.settings_of(config), as_json=json))


@labels.command("list")
@asks_daemon
def list_(
    config: Config = None,
    rubric: Rubric = None,
    since: Annotated[str, typer.Option(help="ISO 8601, epoch seconds, or like 7d.")] = "400d",
    limit: Annotated[int, typer.Option(help="At most this many.")] = 100,
    json: Json = False,
) -> None:
    """Labels, newest first."""
    from ragvigil.app.cli.output.reports import print_labels

    reply = triage.fetch(config, "labels", rubric=rubric, since=since, limit=limit)
    print_labels(reply, as_json=json)


@labels.command("judges")
@asks_daemon
def judges(config: Config = None, rubric: Rubric = None, json: Json = False) -> None:
    """Per rubric and judge: kappa, agreement, state and why, and the mean corrected by labels."""
    from ragvigil.app.cli.output.reports import print_judges

    print_judges(triage.fetch(config, "judges", rubric=rubric), as_json=json)


@labels.command("queue")
@asks_daemon
def queue(
    name: Annotated[
        str, typer.Argument(help="A queue: shows its next answer for you. Without: all queues.")
    ] = "",
    config: Config = None,
    json: Json = False,
) -> None:
    """Queues of answers to label and how far you have come, or the next answer of one.

    Nobody's verdict is shown. `labels import` sends yours; the page /label asks with three keys.
    """
    from ragvigil.app.cli.output.labelling import print_next, print_queues

    if name:
        reply = triage.fetch(config, f"{path_of('label-queues', name)}/next", role="triager")
        print_next(reply, as_json=json)
    else:
        print_queues(triage.fetch(config, "label-queues", role="triager"), as_json=json)


@labels.command("export")
@asks_daemon
def export(
    config: Config = None,
    rubric: Rubric = None,
    labeller: Annotated[str | None, typer.Option(help="Labels of this person only.")] = None,
    form: Annotated[
        str, typer.Option("--format", help="csv or jsonl.", autocompletion=words("csv", "jsonl"))
    ] = "csv",
) -> None:
    """Prints labels as a file that `labels import` reads; at most the newest 10,000.

    In CSV a cell that a spreadsheet would calculate begins with an apostrophe.
    """
    from ragvigil.app.cli.grading.labels_file import export_labels

    reply = triage.fetch(
        config, "labels", rubric=rubric, labeller=labeller, since="400d", limit=10_000
    )
    export_labels(reply, form)
