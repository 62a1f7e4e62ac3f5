"""`ragvigil topics`: what users ask about, where it fails, and what no golden case covers."""

from __future__ import annotations

from typing import Annotated

import typer

from ragvigil.app.cli.options import Config, Json


def topics(
    config: Config = None,
    service: Annotated[str | None, typer.Option(help="This service only.")] = None,
    json: Json = False,
) -> None:
    """Topics of all traffic: share, failing, thumbs-down, golden cases, gaps."""
    from ragvigil.app.cli import api_client
    from ragvigil.app.cli.output import topics as show_topics
    from ragvigil.app.settings import load

    found = api_client.get(load(config), "topics", service=service)
    show_topics.topics(found, as_json=json)
