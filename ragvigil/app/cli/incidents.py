"""`ragvigil incidents`: what is wrong, and what people do about it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from ragvigil.app.cli.input import triage
from ragvigil.app.cli.input.options import Config, Json, asks_daemon, words
from ragvigil.app.cli.input.triage import Words

incidents = typer.Typer(help="What is wrong, one incident a cause.", no_args_is_help=True)

Id = Annotated[str, typer.Argument(help="The incident's id, or the beginning of it.")]


@incidents.command("list")
@asks_daemon
def list_(
    config: Config = None,
    state: Annotated[
        str | None,
        typer.Option(
            help="open, acknowledged, snoozed or resolved.",
            autocompletion=words("open", "acknowledged", "snoozed", "resolved"),
        ),
    ] = None,
    service: Annotated[str | None, typer.Option(help="This service only.")] = None,
    since: Annotated[str, typer.Option(help="ISO 8601, epoch seconds, or like 7d.")] = "7d",
    json: Json = False,
) -> None:
    """Incidents, newest first, and how many pages were right."""
    from ragvigil.app.cli.output.incidents import print_incidents

    reply = triage.fetch(config, "incidents", state=state, service=service, since=since)
    print_incidents(reply, as_json=json)


@incidents.command("show")
@asks_daemon
def show(incident: Id, config: Config = None, json: Json = False) -> None:
    """One incident: its message, what is worse, what changed before, and what was done."""
    from ragvigil.app.cli.output.incidents import print_incident

    path = triage.path_to(config, "incidents", incident)
    print_incident(triage.fetch(config, path), as_json=json)


@incidents.command("ack")
@asks_daemon
def ack(incident: Id, config: Config = None, text: Words = "", json: Json = False) -> None:
    """Somebody works on it."""
    _act(incident, "acknowledge", config, text, as_json=json)


@incidents.command("snooze")
@asks_daemon
def snooze(
    incident: Id,
    config: Config = None,
    until: Annotated[str, typer.Option(help="ISO 8601; UTC where it names no zone.")] = "",
    for_: Annotated[str, typer.Option("--for", help="How long: 30m, 4h, 2d.")] = "",
    text: Words = "",
    json: Json = False,
) -> None:
    """Silences it until a time; a new page of it ends the silence."""
    end = triage.end_of(until, for_, datetime.now(UTC))
    _act(incident, "snooze", config, text, until=end.isoformat(), as_json=json)


@incidents.command("expected")
@asks_daemon
def expected(incident: Id, config: Config = None, text: Words = "", json: Json = False) -> None:
    """The change was meant: later answers are compared with the new level. Resolves it."""
    _act(incident, "expected", config, text, as_json=json)


@incidents.command("false-page")
@asks_daemon
def false_page(incident: Id, config: Config = None, text: Words = "", json: Json = False) -> None:
    """Nothing was wrong: the page counts as false. Resolves it."""
    _act(incident, "false_page", config, text, as_json=json)


@incidents.command("resolve")
@asks_daemon
def resolve(incident: Id, config: Config = None, text: Words = "", json: Json = False) -> None:
    """It was wrong and is mended; it opens again if it is still worse after an hour."""
    _act(incident, "resolve", config, text, as_json=json)


@incidents.command("assign")
@asks_daemon
def assign(
    incident: Id,
    to: Annotated[str, typer.Argument(help="Who has it now; empty for nobody.")],
    config: Config = None,
    text: Words = "",
    json: Json = False,
) -> None:
    """Hands it over to somebody; its state stays."""
    _act(incident, "assign", config, text, name=to, as_json=json)


@incidents.command("note")
@asks_daemon
def note(incident: Id, config: Config = None, text: Words = "", json: Json = False) -> None:
    """Writes down what is known; changes nothing else."""
    _act(incident, "note", config, text, as_json=json)


def _act(
    incident: str,
    verb: str,
    config: Path | None,
    text: str,
    *,
    as_json: bool,
    **values: Any,
) -> None:
    from ragvigil.app.cli.output.incidents import print_state

    path = triage.path_to(config, "incidents", incident, verb)
    print_state(triage.act(config, path, text, **values), as_json=as_json)
