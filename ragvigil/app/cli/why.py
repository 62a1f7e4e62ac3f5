"""`ragvigil why [ROUTE]`: what is wrong right now and why, in ten lines."""

from __future__ import annotations

from typing import Annotated

import typer

from ragvigil.app.cli.options import Config, Json


def why(
    route: Annotated[str | None, typer.Argument(help="This route only.")] = None,
    config: Config = None,
    service: Annotated[str | None, typer.Option(help="This service only.")] = None,
    json: Json = False,
) -> None:
    """What is wrong and why; else what changed, what is audited, and what could be seen."""
    from ragvigil.app.cli import api_client
    from ragvigil.app.cli.output import incidents as show_incidents
    from ragvigil.app.settings import load

    found = api_client.get(load(config), "why", route=route, service=service)
    show_incidents.why(found, as_json=json)
