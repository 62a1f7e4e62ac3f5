"""Sends request bodies with a progress bar on standard error."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ragvigil.app.demo.replay import Outgoing, ReplaySummary, Sending, Tally, send_all


def send_with_bar(
    bodies: Iterable[Outgoing],
    total: int,
    sending: Sending,
    tally: Tally,
    *,
    title: str = "sending",
    console: Console | None = None,
) -> ReplaySummary:
    """Sends bodies with a progress bar; see `send_all`, of which it raises what that raises."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("requests"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console or Console(stderr=True)) as progress:
        task = progress.add_task(title, total=total)

        def step(_: Outgoing) -> None:
            progress.advance(task)

        return asyncio.run(send_all(bodies, sending, tally, progress=step))
