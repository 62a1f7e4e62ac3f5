"""`ragvigil judge`: the language model that grades a sample."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ragvigil.app.cli.input import triage
from ragvigil.app.cli.input.options import (
    Config,
    Json,
    asks_daemon,
    reads_settings,
    rubric_names,
)

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


@judge.command("align")
@asks_daemon
def judge_align(
    config: Config = None,
    rubric: Annotated[
        str | None, typer.Option(help="This rubric only.", autocompletion=rubric_names)
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of labelled sets: choose examples for the prompt from them."),
    ] = None,
    shots: Annotated[int, typer.Option(min=2, max=12, help="With --data: examples shown.")] = 4,
    rows: Annotated[int, typer.Option(min=30, help="With --data: most answers of a rubric.")] = 200,
    out: Annotated[
        Path | None, typer.Option(help="With --data: write examples that help here.")
    ] = None,
    json: Json = False,
) -> None:
    """Fits to people's labels the value below which an answer fails: kappa before and after.

    With --data it chooses examples for the judge's prompt instead, and needs no daemon.
    """
    from ragvigil.app.cli.grading.judge_align import print_alignments

    if data is not None:
        from ragvigil.app.cli.grading.judge_shots import align_by_examples

        settings = triage.settings_of(config)
        sys.exit(
            align_by_examples(
                settings, data, rubric=rubric or "", rows=rows, shots=shots, out=out, as_json=json
            )
        )
    print_alignments(triage.fetch(config, "judge-alignments", rubric=rubric), as_json=json)


@judge.command("measure")
@reads_settings
def judge_measure(
    data: Annotated[Path, typer.Option(help="Folder of labelled sets, *.jsonl or *.jsonl.gz.")],
    config: Config = None,
    rubric: Annotated[
        str, typer.Option(help="This rubric only.", autocompletion=rubric_names)
    ] = "",
    rows: Annotated[int, typer.Option(min=1, help="Most answers of a set and rubric.")] = 200,
    json: Json = False,
) -> None:
    """Asks the configured judge about labelled answers: AUROC, kappa, intervals, cost."""
    from ragvigil.app.cli.grading.judge_measure import measure

    settings = triage.settings_of(config)
    sys.exit(measure(settings, data, rubric=rubric, rows=rows, as_json=json))
