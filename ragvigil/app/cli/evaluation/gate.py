"""`ragvigil gate BASE NEW`: may this release go out? Needs no daemon."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragvigil.app.cli.input.options import Config, Json, asks_daemon, stop

if TYPE_CHECKING:
    from ragvigil.evaluation.gate.decide import Gate
    from ragvigil.evaluation.gate.limits import GateSettings
    from ragvigil.evaluation.result_file import Results

PASSES, WORSE, CANNOT_SAY = 0, 1, 3
"""Exit statuses."""

ResultFile = Annotated[Path, typer.Argument(help="A file that `ragvigil evaluate --out` wrote.")]


Limits = Annotated[
    list[str] | None,
    typer.Option(metavar="RUBRIC=FALL", help="Largest allowed fall, as in groundedness=0.08."),
]
Floors = Annotated[
    list[str] | None, typer.Option(metavar="RUBRIC=MEAN", help="Least mean of the new run.")
]
MayPass = Annotated[
    bool, typer.Option("--cannot-say-passes", help="Exit with 0, not 3, for too few cases.")
]
Markdown = Annotated[
    Path | None, typer.Option(help="Also write a comment for the pull request here.")
]
Junit = Annotated[Path | None, typer.Option(help="Also write JUnit XML for the CI server here.")]
Commits = Annotated[
    str,
    typer.Option(
        metavar="RANGE",
        help="Commits of NEW, as in v2.4.0..HEAD: cases of the issues that their trailers "
        "Ragvigil-Fixes name must pass.",
    ),
]
Fixes = Annotated[
    list[str] | None, typer.Option(metavar="ISSUE", help="The same, for an issue by its id.")
]
Send = Annotated[
    bool, typer.Option("--send", help="Send it to the daemon, which has the run NEW already.")
]


@asks_daemon
def gate(
    base: ResultFile,
    new: ResultFile,
    config: Config = None,
    limit: Limits = None,
    floor: Floors = None,
    cannot_say_passes: MayPass = False,
    markdown: Markdown = None,
    junit: Junit = None,
    commits: Commits = "",
    fixes: Fixes = None,
    send: Send = False,
    json: Json = False,
) -> None:
    """Compares two runs of a golden set. Exits with 1 for worse, 3 for too few cases to say."""
    from ragvigil.app.cli.evaluation.send import send_gate
    from ragvigil.app.cli.input import trailers, triage

    configured = triage.settings_of(config)
    settings = with_options(configured.gate, limit or (), floor or ())
    fixed = trailers.fixes(commits, fixes or ())
    named = [*(limit or ()), *(floor or ())]
    compared = decided(base, new, settings, named=named, fixed=fixed)
    write_reports(compared, markdown=markdown, junit=junit)
    show(compared, as_json=json)
    if send:
        send_gate(configured, compared)
    may_pass = cannot_say_passes or settings.cannot_say_passes
    sys.exit(exit_status(compared, cannot_say_passes=may_pass))


def with_options(
    settings: GateSettings, limits: Iterable[str], floors: Iterable[str]
) -> GateSettings:
    """The settings with the limits and floors of a command over them. Raises BadParameter."""
    from ragvigil.evaluation.gate.limits import GateSettings

    return GateSettings(
        **settings.model_dump(exclude={"limits", "floors"}),
        limits=settings.limits | dict(_share(each, "--limit") for each in limits),
        floors=settings.floors | dict(_share(each, "--floor") for each in floors),
    )


def decided(
    base: Path,
    new: Path,
    settings: GateSettings,
    named: Iterable[str] = (),
    fixed: Iterable[str] = (),
) -> Gate:
    """Compares two files; exits with 2 where one cannot be read.

    Raises BadParameter where a limit or floor of the command is of a rubric that no run has.
    """
    from ragvigil.evaluation.gate.decide import decide
    from ragvigil.evaluation.gate.pairs import PASSED, measured

    runs = read_run(base), read_run(new)
    known = measured([*runs[0].results, *runs[1].results])
    for option in named:
        if (name := option.partition("=")[0]).removesuffix(PASSED) not in known:
            raise typer.BadParameter(f"{name} is not one of {', '.join(known)}")
    return decide(*runs, settings, fixed)


def write_reports(compared: Gate, *, markdown: Path | None, junit: Path | None) -> None:
    """Writes the files that were asked for; exits with 2 where one cannot be written."""
    from ragvigil.evaluation.gate.junit import as_junit
    from ragvigil.evaluation.gate.markdown import as_markdown
    from scorers.rubric import rubric_layers

    for path, form in ((markdown, as_markdown), (junit, as_junit)):
        if path is None:
            continue
        try:
            path.write_text(form(compared, rubric_layers()), encoding="utf-8")
        except OSError as error:
            stop(f"{path}: cannot be written: {error.strerror or error}")


def show(compared: Gate, *, as_json: bool) -> None:
    """Prints the verdict and its reasons, then a table."""
    from ragvigil.app.cli.output.gate import print_gate
    from ragvigil.evaluation.gate.document import as_document
    from scorers.rubric import rubric_layers

    print_gate(as_document(compared, rubric_layers()), as_json=as_json)


def exit_status(compared: Gate, *, cannot_say_passes: bool) -> int:
    """0 to go on, 1 for worse, 3 for too few cases to say unless that may pass."""
    from ragvigil.evaluation.gate.decide import State

    statuses = {
        State.PASS: PASSES,
        State.WORSE: WORSE,
        State.CANNOT_SAY: PASSES if cannot_say_passes else CANNOT_SAY,
    }
    return statuses[compared.state]


def _share(option: str, name: str) -> tuple[str, float]:
    rubric, _, number = option.partition("=")
    try:
        share = float(number)
    except ValueError:
        share = -1.0
    if not rubric or not 0 < share <= 1:
        raise typer.BadParameter(f"{name} {option} is not RUBRIC=NUMBER, over 0 and at most 1")
    return rubric, share


def read_run(path: Path) -> Results:
    """The results of a run; exits with 2 where the file cannot be read."""
    from ragvigil.evaluation.result_file import BadResults, read_results

    try:
        return read_results(path)
    except BadResults as error:
        stop(str(error))
    except OSError as error:
        stop(f"{path}: cannot be read: {error.strerror or error}")
