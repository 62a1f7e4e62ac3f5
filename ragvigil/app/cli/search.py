"""`ragvigil search`: answers by words or by meaning."""

from __future__ import annotations

from typing import Annotated

import typer

from ragvigil.app.cli.input import triage
from ragvigil.app.cli.input.options import Config, Json, asks_daemon


@asks_daemon
def search(
    words: Annotated[
        list[str], typer.Argument(help='An id, words, "a phrase in quotes", or a question.')
    ],
    config: Config = None,
    meaning: Annotated[
        bool, typer.Option("--meaning", help="By the meaning of questions, not by words.")
    ] = False,
    route: Annotated[str | None, typer.Option(help="This route only.")] = None,
    service: Annotated[str | None, typer.Option(help="This service only.")] = None,
    since: Annotated[str, typer.Option(help="ISO 8601, or how long ago: 30m, 6h, 7d.")] = "24h",
    limit: Annotated[int, typer.Option(help="How many answers, at most 1000.")] = 20,
    json: Json = False,
) -> None:
    """Answers with these words, newest first; or with a like question, nearest first."""
    from ragvigil.app.cli.output.search import print_search

    reply = triage.fetch(
        config,
        "search",
        q=" ".join(_quoted(word) for word in words) if len(words) > 1 else words[0],
        by="meaning" if meaning else "words",
        route=route,
        service=service,
        since=since,
        limit=limit,
    )
    print_search(reply, as_json=json)


def _quoted(word: str) -> str:
    """A phrase, whose quotes the shell has taken away, in quotes again."""
    return f'"{word}"' if " " in word.strip() else word
