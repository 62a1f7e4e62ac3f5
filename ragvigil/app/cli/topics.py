"""`ragvigil topics`: what users ask about, where it fails, and what no golden case covers."""

from __future__ import annotations

from typing import Annotated

import typer

from ragvigil.app.cli import triage
from ragvigil.app.cli.options import Config, Json


def topics(
    config: Config = None,
    service: Annotated[str | None, typer.Option(help="This service only.")] = None,
    json: Json = False,
) -> None:
    """What users ask about. Shows each topic's share, failures, thumbs-down and golden cases."""
    from ragvigil.app.cli.output.topics import print_topics

    print_topics(triage.fetch(config, "topics", service=service), as_json=json)
