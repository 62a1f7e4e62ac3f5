"""`ragvigil acts`: who did what."""

from __future__ import annotations

from typing import Annotated

import typer

from ragvigil.app.cli.input import triage
from ragvigil.app.cli.input.options import Config, Json, asks_daemon


@asks_daemon
def acts(
    config: Config = None,
    person: Annotated[str | None, typer.Option(help="This person's only.")] = None,
    verb: Annotated[str | None, typer.Option(help="sign, acknowledge, sign in, ...")] = None,
    thing: Annotated[
        str | None, typer.Option(help="What it was done to begins so: issues, golden/ID.")
    ] = None,
    since: Annotated[str, typer.Option(help="ISO 8601, epoch seconds, or like 7d.")] = "30d",
    limit: Annotated[int, typer.Option(help="At most this many, to 1,000.")] = 100,
    json: Json = False,
) -> None:
    """Who did what, when, on a page or by the API; the newest first."""
    from ragvigil.app.cli.output.acts import print_acts

    filters = {"person": person, "verb": verb, "thing": thing, "since": since, "limit": limit}
    print_acts(triage.fetch(config, "acts", **filters), as_json=json)
