"""What the verbs of `issues`, `incidents` and `golden` share: the daemon, an id, a reason, a time.

Heavier modules are imported when a command runs, so that help is instant.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragvigil.app.cli.input.options import chosen_url
from ragvigil.app.client.paths import path_of

if TYPE_CHECKING:
    from ragvigil.app.settings import Settings

LENGTH = re.compile(r"(\d{1,5})([mhd])")
UNITS = {"m": "minutes", "h": "hours", "d": "days"}
WHOLE = {"traces": 32, "issues": 16, "incidents": 12}
"""Characters of a whole id."""
HEX = re.compile("[0-9a-f]+")
MOST_CANDIDATES = 5
MOST_SENTENCE = 500
"""Characters of what a rubric was drafted from; the API refuses more."""

Words = Annotated[str, typer.Option("--text", "-m", help="Why, in words.")]


def settings_of(config: Path | None) -> Settings:
    """The settings of a file, with the daemon that `--url` names. Raises SettingsError."""
    from ragvigil.app.settings import load

    url = chosen_url.get()
    return load(config, client={"url": url} if url else None)


def fetch(config: Path | None, path: str, **filters: Any) -> Any:
    """The JSON of `GET /api/v1/<path>`; a filter of None is left out. Raises Unreachable."""
    from ragvigil.app.client import api

    return api.get(settings_of(config), path, **filters)


def whole_id(config: Path | None, kind: str, typed: str) -> str:
    """The id of a trace, issue or incident (`kind` in the plural) that begins as typed.

    Raises Refused where none does, or several do: then it names them.
    """
    from ragvigil.app.client.api import Refused

    prefix, is_whole = typed.lower(), len(typed) == WHOLE[kind]
    if is_whole and HEX.fullmatch(prefix):
        return prefix
    ids = []
    if len(typed) < WHOLE[kind]:
        limit = MOST_CANDIDATES + 1
        ids = fetch(config, f"ids/{kind}", prefix=prefix, limit=limit)["ids"]
    if prefix in ids:
        return prefix
    if not ids:
        raise Refused(f"there is no {kind[:-1]} {typed}, and no id begins with that")
    if len(ids) > 1:
        named = ", ".join(ids[:MOST_CANDIDATES])
        more = ", ..." if len(ids) > MOST_CANDIDATES else ""
        raise Refused(f"several {kind} begin with {typed}, type more of one: {named}{more}")
    return str(ids[0])


def path_to(config: Path | None, kind: str, typed: str, verb: str = "") -> str:
    """The path of the trace, issue or incident that begins as typed. Raises as `whole_id` does."""
    return path_of(kind, whole_id(config, kind, typed), verb)


def send(
    config: Path | None,
    path: str,
    body: object,
    *,
    role: str = "triager",
    timeout_seconds: float | None = None,
) -> Any:
    """The JSON of `POST /api/v1/<path>`. Raises Refused or Unreachable."""
    from ragvigil.app.client import api

    timeout = api.TIMEOUT_SECONDS if timeout_seconds is None else timeout_seconds
    return api.post(settings_of(config), path, body, role=role, timeout_seconds=timeout)


def accept_rubric(config: Path | None, text: str, *, sentence: str = "", issue_id: str = "") -> Any:
    """Makes the rubric of a file live; `sentence`, cut if long, is what it was drafted from.

    Returns the accepted rubric. Raises Refused or Unreachable.
    """
    body = {"text": text, "sentence": sentence[:MOST_SENTENCE], "issue_id": issue_id}
    return send(config, "rubrics", body, role="approver")


def act(config: Path | None, path: str, text: str, **values: Any) -> Any:
    """Posts a verb: `path` is `issues/<id>/<verb>` or the like. Who acts is whose token is sent.

    Returns the issue, incident or case as it is afterwards. Raises Refused or Unreachable.
    """
    return send(config, path, {"text": text, **values})


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


def is_meant(question: str) -> bool:
    """Asks; no reply, as where nobody types, is a no."""
    try:
        return typer.confirm(question, default=False)
    except typer.Abort:
        return False
