"""`ragvigil deploy print`: the files for the deployment of this version, without a checkout."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

deploy = typer.Typer(
    help="Files for Grafana, Prometheus, a Collector, Compose, CI.", no_args_is_help=True
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
