"""`ragvigil rubric`: what is scored, and how a model is asked."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ragvigil.app.cli.input import triage
from ragvigil.app.cli.input.options import Config, Json, asks_daemon, rubric_names, words
from ragvigil.model.score import Layer

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


@rubric.command("new")
@asks_daemon
def rubric_new(
    sentence: Annotated[str, typer.Argument(help="What an answer must do, or must not.")],
    config: Config = None,
    to: Annotated[
        Path | None, typer.Option(help="The file to write; by default NAME.toml here.")
    ] = None,
    layer: Annotated[
        Layer | None,
        typer.Option(
            help="retrieval, generation or cross_cutting; by default the judge chooses.",
            autocompletion=words(*(layer.value for layer in Layer)),
        ),
    ] = None,
    answers: Annotated[int, typer.Option(min=1, max=50, help="Stored answers to try it on.")] = 10,
    yes: Annotated[bool, typer.Option("--yes", help="Make it live without asking.")] = False,
    json: Json = False,
) -> None:
    """Drafts a rubric from a sentence, tries it on stored answers, and asks before it goes live."""
    from ragvigil.app.cli.grading.rubric_new import NO_VERDICT, new_rubric, plain, show

    settings, fetch = triage.settings_of(config), partial(triage.fetch, config)
    made = new_rubric(settings, sentence, fetch, to=to, layer=layer, answers=answers)
    if isinstance(made, int):
        sys.exit(made)
    if not json:
        show(made)
    live = None
    if made.is_tried and (
        yes or (not json and triage.is_meant(f"Make {made.draft.rubric.name} live?"))
    ):
        live = triage.accept_rubric(config, made.draft.text, sentence=sentence)
    if json:
        print(plain(made, live))
    elif live is None:
        print(f"not live: `ragvigil rubric accept {made.file}` makes it so")
    else:
        print(f"live: {live['name']}, by the judge's sample, from now on")
    sys.exit(0 if made.is_tried else NO_VERDICT)


@rubric.command("accept")
@asks_daemon
def rubric_accept(
    file: Annotated[Path, typer.Argument(help="A rubric's TOML file.", exists=True)],
    config: Config = None,
    json: Json = False,
) -> None:
    """Makes a rubric live: a [judge] on the judge's sample, a [pattern] on every answer."""
    from ragvigil.app.cli.output.rubrics import print_accepted

    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"{file}: cannot be read: {getattr(error, 'strerror', None) or error}")
    print_accepted(triage.accept_rubric(config, text), as_json=json)


@rubric.command("remove")
@asks_daemon
def rubric_remove(
    name: Annotated[str, typer.Argument(help="The name of an accepted rubric.")],
    config: Config = None,
    json: Json = False,
) -> None:
    """Takes out a rubric that was accepted; its scores so far stay."""
    from ragvigil.app.cli.output.rubrics import print_accepted
    from ragvigil.app.client.paths import path_of

    path = path_of("rubrics", name, "remove")
    print_accepted(triage.send(config, path, {}, role="approver"), as_json=json)
