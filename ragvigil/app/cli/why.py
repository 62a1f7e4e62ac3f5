"""`ragvigil why [ROUTE]`: what is wrong right now and why, in ten lines."""

from __future__ import annotations

from typing import Annotated

import typer

from ragvigil.app.cli import triage
from ragvigil.app.cli.options import Config, Json


def why(
    route: Annotated[str | None, typer.Argument(help="This route only.")] = None,
    config: Config = None,
    service: Annotated[str | None, typer.Option(help="This service only.")] = None,
    json: Json = False,
) -> None:
    """What is wrong and why. If nothing is, shows what changed and what could be seen."""
    from ragvigil.app.cli.output.incidents import print_why

    print_why(triage.fetch(config, "why", route=route, service=service), as_json=json)
