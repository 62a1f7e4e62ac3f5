"""`ragvigil rubric`: what is scored, and how a model is asked."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ragvigil.app.cli.input import triage
from ragvigil.app.cli.input.options import Config, Json, asks_daemon, rubric_names

rubric = typer.Typer(help="What is scored, and how a model is asked.", no_args_is_help=True)

RubricFile = Annotated[
    str,
    typer.Argument(help="A rubric's TOML file, or the name of one.", autocompletion=rubric_names),
]


@rubric.command("list")
def rubric_list(json: Json = False) -> None:
    """Every rubric: its layer, and whether code, a judge or another rubric's grades score it."""
    from ragvigil.app.cli.grading.rubric_file import list_rubrics

    sys.exit(list_rubrics(as_json=json))


@rubric.command("check")
def rubric_check(file: RubricFile, json: Json = False) -> None:
    """What is wrong with a rubric's file, or what it asks. Calls no model."""
    from ragvigil.app.cli.grading.rubric_file import check_rubric

    sys.exit(check_rubric(file, as_json=json))


@rubric.command("try")
@asks_daemon
def rubric_try(
    file: RubricFile,
    trace: Annotated[str, typer.Option("--on", help="Id of a trace that the daemon stored.")],
    config: Config = None,
    json: Json = False,
) -> None:
    """Asks the configured model about one trace: prompt, reply, score. Stores nothing."""
    from ragvigil.app.cli.grading.rubric_file import try_rubric

    path = triage.path_to(config, "traces", trace)
    reply = triage.fetch(config, path)
    sys.exit(try_rubric(triage.settings_of(config), file, reply, as_json=json))
