"""`ragvigil deploy`: marks what went live, and prints the files for ragvigil's own deployment."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ragvigil.app.cli.input.options import Config, asks_daemon

deploy = typer.Typer(
    help="Mark what went live; files for Grafana, Prometheus, a Collector, Compose, CI.",
    no_args_is_help=True,
)


class Subject(StrEnum):
    """What there are files for."""

    GRAFANA = "grafana"
    TEE = "tee"
    COLLECTOR = "collector"
    PROMETHEUS = "prometheus"
    ALERTMANAGER = "alertmanager"
    COMPOSE = "compose"
    SIDECAR = "sidecar"
    SETTINGS = "settings"
    CI = "ci"


@deploy.command("print")
def print_files(
    subject: Annotated[Subject, typer.Argument(help="What the files are for.")],
    to: Annotated[
        Path | None,
        typer.Option(help="Write the files into this folder, which is created, and print none."),
    ] = None,
) -> None:
    """Prints the shipped files, each after a line with its name if there are several."""
    from ragvigil.app.cli.deploy_files import files, write

    shipped = files(subject.value)
    if to is None:
        for name, text in shipped.items():
            heading = f"==> {name} <==\n" if len(shipped) > 1 else ""
            print(f"{heading}{text}", end="" if text.endswith("\n") else "\n")
        return
    try:
        for path in write(shipped, to):
            print(path)
    except OSError as error:
        typer.echo(f"{to}: the files cannot be written: {error.strerror}", err=True)
        raise typer.Exit(2) from error


@deploy.command("mark")
@asks_daemon
def mark(
    service: Annotated[str, typer.Argument(help="The service that changed (`service.name`).")],
    version: Annotated[str, typer.Argument(help="What went live, as `service.version` says it.")],
    config: Config = None,
    environment: Annotated[str, typer.Option(help="Where; default everywhere.")] = "",
    text: Annotated[str, typer.Option("--text", "-m", help="What changed, in words.")] = "",
    commits: Annotated[
        str,
        typer.Option(
            metavar="RANGE",
            help="What it consists of, as in v2.4.0..HEAD: issues that the trailers Ragvigil-Fixes "
            "name are resolved in this version.",
        ),
    ] = "",
    fixes: Annotated[
        list[str] | None, typer.Option(metavar="ISSUE", help="The same, for an issue by its id.")
    ] = None,
) -> None:
    """Marks a deploy, and resolves the issues that it fixes: they are regressed if they come back.

    An issue that cannot be resolved is named; the exit status is then 1.
    """
    from ragvigil.app.cli.input import trailers, triage
    from ragvigil.app.cli.output.console import print_text
    from ragvigil.app.client.api import Refused

    fixed = trailers.fixes(commits, fixes or ())
    post = {"service": service, "version": version, "environment": environment,
            "description": text, "source": "command"}  # fmt: skip
    triage.send(config, "deploys", post, role="ingest")
    print_text(f"{service} {version} is marked.")
    refused = 0
    for issue_id in fixed:
        try:
            path = triage.path_to(config, "issues", issue_id, "resolve")
            triage.act(config, path, f"a commit of {version} says so", release=version)
            print_text(f"Issue {issue_id}: resolved in {version}, regressed if it comes back.")
        except Refused as error:
            print_text(f"Issue {issue_id}: not resolved: {error}")
            refused += 1
    if refused:
        raise typer.Exit(1)
