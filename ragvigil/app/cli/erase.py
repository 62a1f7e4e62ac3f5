"""`ragvigil erase`: a trace, or everything of a user or a session."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragvigil.app.cli.input import triage
from ragvigil.app.cli.input.options import Config, Json, asks_daemon

if TYPE_CHECKING:
    from collections.abc import Mapping

ASK_SECONDS = 0.5
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask whether it is meant.")]


@asks_daemon
def erase(
    config: Config = None,
    trace: Annotated[str | None, typer.Option(help="The whole id of a trace.")] = None,
    user: Annotated[
        str | None, typer.Option(help="A user's id, as it is stored: after redaction.")
    ] = None,
    session: Annotated[
        str | None, typer.Option(help="A session's id, as it is stored: after redaction.")
    ] = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Erases a trace, or all that a user or a session sent so far: rows, caches, copies."""
    from ragvigil.app.cli.output.erasure import print_erasure

    given = {"trace": trace, "user": user, "session": session}
    named = [(kind, id_) for kind, id_ in given.items() if id_]
    if len(named) != 1:
        raise typer.BadParameter("one of --trace, --user and --session is needed")
    ((kind, id_),) = named
    if not yes:
        typer.confirm(f"Erase everything of the {kind} {id_}? It cannot be undone", abort=True)
    begun = triage.send(config, "erasures", {"kind": kind, "id": id_}, role="admin")
    erasure = _wait(config, begun, is_shown=not json)
    print_erasure(erasure, as_json=json)
    sys.exit(0 if erasure["state"] == "done" else 1)


def _wait(config: Path | None, erasure: Mapping[str, Any], *, is_shown: bool) -> Mapping[str, Any]:
    """The erasure once it runs no more; prints each new step on standard error."""
    step = ""
    while erasure["state"] == "running":
        if is_shown and erasure["step"] != step:
            step = erasure["step"]
            print(f"{step} ...", file=sys.stderr)
        time.sleep(ASK_SECONDS)
        erasure = triage.fetch(config, f"erasures/{erasure['id']}", role="admin")
    return erasure
