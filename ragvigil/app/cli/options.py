"""Options that many commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Config = Annotated[
    Path | None,
    typer.Option(
        "--config", "-c", help="Settings file; default $RAGVIGIL_CONFIG or ragvigil.toml."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document instead of a table.")]
