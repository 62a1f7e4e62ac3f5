"""`ragvigil help [TOPIC]`: a text about a topic, or the help of a command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from ragvigil.app.cli.input.options import matching


def topic_names(incomplete: str) -> list[str]:
    """What the shell completes for a topic of the help."""
    from ragvigil.app.cli.help_topics import TOPICS

    return matching([topic.name for topic in TOPICS], incomplete)


def help_(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TOPIC]", help="A topic or a command.", autocompletion=topic_names),
    ] = None,
) -> None:
    """What files, metrics, settings and exit codes are. Without a topic, lists the topics."""
    from ragvigil.app.cli.help_topics import contents, find

    root = context.find_root().command
    if words and _is_command(root, words):
        root.main([*words, "--help"], prog_name="ragvigil")
    elif words and (topic := find(words)):
        print(topic.text())
    elif words:
        sentence = "is neither a topic nor a command; `ragvigil help` lists both"
        raise typer.BadParameter(f"{' '.join(words)} {sentence}")
    else:
        print(contents())


def _is_command(root: object, words: Sequence[str]) -> bool:
    command = root
    for word in words:
        command = getattr(command, "commands", {}).get(word)
    return command is not None
