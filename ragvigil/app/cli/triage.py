"""What the verbs of `issues`, `incidents` and `golden` share: the daemon, a name, a reason, a time.

Heavier modules are imported when a command runs, so that help is instant.
"""

from __future__ import annotations

import getpass
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer

LENGTH = re.compile(r"(\d{1,5})([mhd])")
UNITS = {"m": "minutes", "h": "hours", "d": "days"}

Actor = Annotated[str, typer.Option(help="Who says it; default your login name.")]
Words = Annotated[str, typer.Option("--text", "-m", help="Why, in words.")]


def fetch(config: Path | None, path: str, **filters: Any) -> Any:
    """The JSON of `GET /api/v1/<path>`; a filter of None is left out. Raises Unreachable."""
    from ragvigil.app.cli import api_client
    from ragvigil.app.settings import load

    return api_client.get(load(config), path, **filters)


def send(
    config: Path | None,
    path: str,
    body: object,
    *,
    role: str = "triager",
    timeout_seconds: float | None = None,
) -> Any:
    """The JSON of `POST /api/v1/<path>`. Raises Refused or Unreachable."""
    from ragvigil.app.cli import api_client
    from ragvigil.app.settings import load

    timeout = api_client.TIMEOUT_SECONDS if timeout_seconds is None else timeout_seconds
    return api_client.post(load(config), path, body, role=role, timeout_seconds=timeout)


def act(config: Path | None, path: str, actor: str, text: str, **values: Any) -> Any:
    """Posts a verb under a person's name: `path` is `issues/<id>/<verb>` or the like.

    Returns the issue, incident or case as it is afterwards. Raises Refused or Unreachable.
    """
    return send(config, path, {"actor": actor or login(), "text": text, **values})


def path_of(kind: str, name: str, verb: str = "") -> str:
    """The path of one issue, incident or case; an id may hold any character.

    >>> path_of("issues", "a/b", "resolve")
    'issues/a%2Fb/resolve'
    """
    return "/".join(filter(None, (kind, quote(name, safe=""), verb)))


def login() -> str:
    """The user's login name, empty where the system knows none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def end_of(until: str, length: str, now: datetime) -> datetime:
    """The time of `--until` or, counted from `now`, of `--for`. Raises typer.BadParameter."""
    if bool(until) == bool(length):
        raise typer.BadParameter("one of --until and --for is needed")
    if length:
        match = LENGTH.fullmatch(length)
        if match is None:
            raise typer.BadParameter(f"--for {length} is not like 30m, 4h or 2d")
        return now + timedelta(**{UNITS[match[2]]: int(match[1])})
    try:
        time = datetime.fromisoformat(until)
    except ValueError as error:
        raise typer.BadParameter(f"--until {until} is not ISO 8601") from error
    return time if time.tzinfo else time.replace(tzinfo=UTC)
