"""What `ragvigil incidents` and `ragvigil why` print."""

from __future__ import annotations

from rich.console import Console

from ragvigil.app.cli.output.console import (
    JsonObject,
    actor_of,
    minute,
    place_of,
    print_line,
    prints,
)
from ragvigil.model import figures


@prints
def print_incidents(reply: JsonObject, console: Console) -> None:
    """Two lines an incident, then the share of pages that were right, with its count."""
    for incident in reply["incidents"]:
        print_line(console, _heading(incident), style="bold")
        print_line(console, f"  {incident['message'][0]}")
    if not reply["incidents"]:
        console.print("no incidents: `ragvigil why` tells what is watched and how well")
    pages = reply["pages"]
    if pages["precision"] is not None:
        right = f"{figures.share(pages['precision'])} of pages were right"
        console.print(f"{right} ({pages['judged']} judged, {pages['pages']} in all)")


@prints
def print_incident(incident: JsonObject, console: Console) -> None:
    """The message, what is worse, what changed before, and what was done."""
    heading = f"{incident['incident_id']}  {incident['severity']}, {_state(incident)}"
    print_line(console, heading, style="bold")
    for line in incident["message"]:
        print_line(console, line)
    print_line(console, "\nwhat is worse", style="bold")
    for finding in incident["findings"]:
        ended = f", over {minute(finding['cleared'])}" if finding["cleared"] else ""
        what = f"{finding['kind']:<7} {finding['words'] or finding['signal']}"
        print_line(console, f"  {what} on {', '.join(finding['routes'])}{ended}")
    if incident["suspects"]:
        print_line(console, "\nchanged shortly before", style="bold")
    for change in incident["suspects"]:
        values = " → ".join(value for value in (change["before"], change["after"]) if value)
        where = change["route"] or "all routes"
        print_line(console, f"  {minute(change['since'])}  {change['kind']} on {where}  {values}")
    print_line(console, "\nwhat was done", style="bold")
    for event in incident["events"]:
        step = f"{event['verb']}{actor_of(event)}  {event['text']}"
        print_line(console, f"  {minute(event['time'])}  {step}")


@prints
def print_state(incident: JsonObject, console: Console) -> None:
    """One line: the incident's id and its state."""
    print_line(console, f"{incident['incident_id']} is {_state(incident)}")


@prints
def print_why(reply: JsonObject, console: Console) -> None:
    """The lines as they are."""
    for line in reply["lines"]:
        print_line(console, line)


def _heading(incident: JsonObject) -> str:
    state = f"{incident['state']:<12}  {incident['severity']:<6}"
    cause = incident["cause"] or "undetermined"
    since = f"since {minute(incident['since'])}"
    return f"{incident['incident_id']}  {state}  {since}  {cause}  {place_of(incident)}"


def _state(incident: JsonObject) -> str:
    if incident["is_false_page"]:
        return "resolved, a false page"
    if incident["is_expected"]:
        return "resolved, expected"
    if incident["state"] == "snoozed":
        return f"snoozed until {minute(incident['snoozed_until'])}"
    has_owner = incident["state"] == "acknowledged" and incident["assignee"]
    return f"{incident['state']}{' by ' + incident['assignee'] if has_owner else ''}"
