"""`ragvigil judge`: the language model that grades a sample."""

from __future__ import annotations

import sys

import typer

from ragvigil.app.cli.input import triage
from ragvigil.app.cli.input.options import Config, Json, asks_daemon

judge = typer.Typer(help="The language model that grades a sample.", no_args_is_help=True)


@judge.command("cost")
@asks_daemon
def judge_cost(config: Config = None, json: Json = False) -> None:
    """What a day of judging costs at the present traffic, rubric by rubric."""
    from ragvigil.app.cli.grading.judge_cost import report
    from ragvigil.app.client import api
    from ragvigil.app.sources.judge_cost import HOURS

    settings = triage.settings_of(config)
    reply = api.get(settings, "traffic", hours=HOURS)
    sys.exit(report(settings, reply, as_json=json))
