"""`ragvigil incidents`: what is wrong, and what a person says of it."""

from __future__ import annotations

import getpass
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from ragvigil.app.cli.options import Config, Json

incidents = typer.Typer(
    help="What is wrong, told once a cause, and what is done about it.", no_args_is_help=True
)

LENGTH = re.compile(r"(\d{1,5})([mhd])")
UNITS = {"m": "minutes", "h": "hours", "d": "days"}

Id = Annotated[str, typer.Argument(help="The incident's id, as `incidents list` shows it.")]
Actor = Annotated[str, typer.Option(help="Who says it; default your login name.")]
Words = Annotated[str, typer.Option("--text", "-m", help="Why, in words.")]


@incidents.command("list")
def list_(
    config: Config = None,
    state: Annotated[
        str | None, typer.Option(help="open, acknowledged, snoozed or resolved.")
    ] = None,
    service: Annotated[str | None, typer.Option(help="This service only.")] = None,
    since: Annotated[str, typer.Option(help="ISO 8601, epoch seconds, or like 7d.")] = "7d",
    json: Json = False,
) -> None:
    """Incidents, newest first, and how many pages were right."""
    from ragvigil.app.cli import api_client
    from ragvigil.app.cli.output import incidents as show_incidents
    from ragvigil.app.settings import load

    asked = {"state": state, "service": service, "since": since}
    show_incidents.incidents(api_client.get(load(config), "incidents", **asked), as_json=json)


@incidents.command("show")
def show(incident: Id, config: Config = None, json: Json = False) -> None:
    """One incident: its message, findings, suspects, and everything that was done."""
    from ragvigil.app.cli import api_client
    from ragvigil.app.cli.output import incidents as show_incidents
    from ragvigil.app.settings import load

    found = api_client.get(load(config), f"incidents/{_quoted(incident)}")
    show_incidents.incident(found, as_json=json)


@incidents.command("ack")
def ack(
    incident: Id, config: Config = None, actor: Actor = "", text: Words = "", json: Json = False
) -> None:
    """Somebody looks at it."""
    _act(incident, "acknowledge", config, actor, text, as_json=json)


@incidents.command("snooze")
def snooze(
    incident: Id,
    config: Config = None,
    until: Annotated[str, typer.Option(help="ISO 8601; UTC where it names no zone.")] = "",
    for_: Annotated[str, typer.Option("--for", help="How long: 30m, 4h, 2d.")] = "",
    actor: Actor = "",
    text: Words = "",
    json: Json = False,
) -> None:
    """Silent until a time; a page within it wakes it."""
    end = _end(until, for_, datetime.now(UTC))
    _act(incident, "snooze", config, actor, text, until=end.isoformat(), as_json=json)


@incidents.command("expected")
def expected(
    incident: Id, config: Config = None, actor: Actor = "", text: Words = "", json: Json = False
) -> None:
    """The new level is meant: it is the level from now on."""
    _act(incident, "expected", config, actor, text, as_json=json)


@incidents.command("false-page")
def false_page(
    incident: Id, config: Config = None, actor: Actor = "", text: Words = "", json: Json = False
) -> None:
    """Nothing was wrong; counts against the precision of pages."""
    _act(incident, "false_page", config, actor, text, as_json=json)


@incidents.command("resolve")
def resolve(
    incident: Id, config: Config = None, actor: Actor = "", text: Words = "", json: Json = False
) -> None:
    """It was wrong, and is mended; what still lasts after an hour opens it again."""
    _act(incident, "resolve", config, actor, text, as_json=json)


def _act(
    incident: str,
    verb: str,
    config: Path | None,
    actor: str,
    text: str,
    *,
    until: str | None = None,
    as_json: bool,
) -> None:
    from ragvigil.app.cli import api_client
    from ragvigil.app.cli.output import incidents as show_incidents
    from ragvigil.app.settings import load

    body = {"actor": actor or _login(), "text": text, "until": until}
    path = f"incidents/{_quoted(incident)}/{verb}"
    found = api_client.post(load(config), path, body, role="triager")
    show_incidents.acted(found, as_json=as_json)


def _end(until: str, length: str, now: datetime) -> datetime:
    """When a snooze ends. Raises typer.BadParameter."""
    if bool(until) == bool(length):
        raise typer.BadParameter("one of --until and --for is needed")
    if length:
        found = LENGTH.fullmatch(length)
        if found is None:
            raise typer.BadParameter(f"--for {length} is not like 30m, 4h or 2d")
        return now + timedelta(**{UNITS[found[2]]: int(found[1])})
    try:
        time = datetime.fromisoformat(until)
    except ValueError as error:
        raise typer.BadParameter(f"--until {until} is not ISO 8601") from error
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _login() -> str:
    """The user's name, empty where the system knows none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def _quoted(name: str) -> str:
    from urllib.parse import quote

    return quote(name, safe="")
