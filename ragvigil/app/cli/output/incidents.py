"""What `ragvigil incidents` prints: tables for people, one JSON document for scripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from ragvigil.app.cli.output.text import _minute, _place, _print, _printing


@_printing
def incidents(found: Mapping[str, Any], console: Console) -> None:
    """Two lines an incident, and the precision of pages with the number behind it."""
    for one in found["incidents"]:
        _print(console, _heading(one), style="bold")
        _print(console, f"  {one['message'][0]}")
    if not found["incidents"]:
        console.print("no incidents: `ragvigil why` tells what is watched and how well")
    pages = found["pages"]
    if pages["precision"] is not None:
        right = f"{100 * pages['precision']:.0f} % of pages were right"
        console.print(f"{right} ({pages['judged']} judged, {pages['pages']} in all)")


@_printing
def incident(found: Mapping[str, Any], console: Console) -> None:
    """The message, the findings, the suspects, the events."""
    _print(console, f"{found['incident_id']}  {found['severity']}, {_state(found)}", style="bold")
    for line in found["message"]:
        _print(console, line)
    _print(console, "\nfindings", style="bold")
    for one in found["findings"]:
        ended = f", over {_minute(one['cleared'])}" if one["cleared"] else ""
        routes = ", ".join(one["routes"])
        _print(console, f"  {one['kind']:<7} {one['words'] or one['signal']} on {routes}{ended}")
    if found["suspects"]:
        _print(console, "\nchanged shortly before", style="bold")
    for one in found["suspects"]:
        values = " → ".join(value for value in (one["before"], one["after"]) if value)
        where = one["route"] or "all routes"
        _print(console, f"  {_minute(one['since'])}  {one['kind']} on {where}  {values}")
    _print(console, "\nwhat was done", style="bold")
    for one in found["events"]:
        who = f" by {one['actor']}" if one["actor"] else ""
        _print(console, f"  {_minute(one['time'])}  {one['verb']}{who}  {one['text']}")


@_printing
def acted(found: Mapping[str, Any], console: Console) -> None:
    """One line: how the incident stands now."""
    _print(console, f"{found['incident_id']} is {_state(found)}")


@_printing
def why(found: Mapping[str, Any], console: Console) -> None:
    """The lines as they are."""
    for line in found["lines"]:
        _print(console, line)


def _heading(one: Mapping[str, Any]) -> str:
    standing = f"{one['state']:<12}  {one['severity']:<6}  since {_minute(one['since'])}"
    cause = one["cause"] or "undetermined"
    return f"{one['incident_id']}  {standing}  {cause}  {_place(one)}"


def _state(one: Mapping[str, Any]) -> str:
    if one["is_false_page"]:
        return "resolved, a false page"
    if one["is_expected"]:
        return "resolved, expected"
    if one["state"] == "snoozed":
        return f"snoozed until {_minute(one['snoozed_until'])}"
    who = f" by {one['assignee']}" if one["state"] == "acknowledged" and one["assignee"] else ""
    return f"{one['state']}{who}"
