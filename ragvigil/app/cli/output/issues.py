"""What `ragvigil issues` prints: tables for people, one JSON document for scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from ragvigil.app.cli.output.text import _minute, _print, _printing, _share, _short, sparkline

Form = Mapping[str, Any]

TRAITS = {
    "route": "routes",
    "service_version": "releases",
    "prompt_version": "prompts",
    "index_epoch": "indexes",
    "llm_model": "models",
}


@_printing
def issues(found: Form, console: Console) -> None:
    """Two lines an issue, then what is in none and how much that is."""
    for one in found["issues"]:
        standing = f"{one['state']:<12}  {one['family']:<13}"
        since = f"since {_minute(one['first'])[:10]}"
        _print(console, f"{one['issue_id']}  {standing}  {since}  {_bars(one)}", style="bold")
        _print(console, f"  {one['message'][1]}: {one['name']}")
    if not found["issues"]:
        console.print("no issues: three failing records of one kind make one")
    more = found["found"] - len(found["issues"])
    if more:
        _print(console, f"and {more} more: `--limit {found['found']}`")
    _print(console, f"not grouped: {found['not_grouped']} failing records of 7 days")
    if found["pending_minutes"] != 0:
        _print(console, f"{_pending(found['pending_minutes'])}: ask again in a minute")
    for one in found["background"]:
        if one["requests"] or one["failing"]:
            _print(console, f"  {one['family']}: {_background(one)}")


@_printing
def issue(found: Form, console: Console) -> None:
    """The story of an issue: what, how much, why, where, examples, what was done."""
    _print(console, f"{found['issue_id']}  {_state(found)}", style="bold")
    name, seen, *rest, _ = found["message"]
    _print(console, name, style="bold")
    for line in (f"{seen}{_apart(found['count'])}  {_bars(found).lstrip()} a day", *rest):
        _print(console, line)
    _print(console, f"Around it: {_background(found['background'])}")
    if found["root_cause"]:
        _cause(found["root_cause"], console)
    for title, one in TRAITS.items():
        values = [_trait(trait) for trait in found["traits"] if trait["name"] == title]
        if values:
            _print(console, f"{one:<9} {', '.join(values)}")
    _examples(found["representatives"], console)
    for pair in found["pairs"]:
        _print(console, f"pair: {_pair(pair)}")
    _print(console, "\nwhat was done", style="bold")
    for one in found["events"]:
        who = f" by {one['actor']}" if one["actor"] else ""
        _print(console, f"  {_minute(one['time'])}  {one['verb']}{who}  {one['text']}")


@_printing
def pairs(found: Form, console: Console) -> None:
    """A line a pair."""
    if not found["pairs"]:
        console.print("no two issues look alike")
    for pair in found["pairs"]:
        _print(console, _pair(pair))


@_printing
def acted(found: Form, console: Console) -> None:
    """One line: how the issue stands now."""
    _print(console, f"{found['issue_id']} is {_state(found)}: {found['name']}")


@_printing
def root_cause(found: Form, console: Console) -> None:
    """A report on its own."""
    _cause(found, console)


def _pending(minutes: int | None) -> str:
    if minutes is None:
        return "failing records were not looked at since the start"
    return f"{minutes} minutes of traffic are still to be looked at"


def _bars(one: Form) -> str:
    return sparkline([count or None for count in one["days"]])


def _apart(count: Form) -> str:
    return f", {count['apart']} of them picked as suspicious" if count["apart"] else ""


def _state(one: Form) -> str:
    """The state with what bounds it, and who has the issue."""
    bounds = {
        "resolved": f" in {one['resolved_in']}" if one["resolved_in"] else "",
        "ignored": _ignored(one),
    }
    who = f", assigned to {one['assignee']}" if one["assignee"] else ""
    kind = ", provisional" if one["is_provisional"] else ""
    merged = f", merged into {one['merged_into']}" if one["merged_into"] else ""
    return f"{one['state']}{bounds.get(one['state'], '')}{who}{kind}{merged}"


def _ignored(one: Form) -> str:
    bounds = []
    if one["ignored_until"]:
        bounds.append(f"until {_minute(one['ignored_until'])}")
    if one["ignored_members"]:
        bounds.append(f"until it has {one['ignored_members']} members")
    return f" {' or '.join(bounds)}" if bounds else " for ever"


def _background(one: Form) -> str:
    """Where little is known the prior of the rate weighs, and the two figures differ."""
    seen = f"{one['failing']} of {one['requests']} records fail outside of issues"
    return f"{seen}; background rate {_share(one['rate'])}, with a prior of 2 in 400"


def _cause(one: Form, console: Console) -> None:
    grades = [f"{grade['name']} {grade['grade']}/5" for grade in one["grades"]]
    is_code = one["by"] == "code"
    heading = "what code can tell" if is_code else f"why ({', '.join([one['by'], *grades])})"
    _print(console, f"\n{heading}, {_minute(one['time'])}", style="bold")
    if not is_code:
        _print(console, f"  {one['cause'] or 'not determined: ' + one['ended']}")
    if one["fix"]:
        _print(console, f"  at once: {one['fix']}")
    for quote in one["quotes"][:3]:
        _print(console, f"  “{_short(quote['text'], 120)}”  trace {quote['trace_id']}")
    for line in one["text"].splitlines():
        _print(console, f"  {line}")
    console.print()


def _trait(one: Form) -> str:
    return f"{one['value']} {one['members']} (since {_minute(one['first'])})"


def _examples(members: Sequence[Form], console: Console) -> None:
    if members:
        _print(console, "\nexamples: `ragvigil trace ID`", style="bold")
    for one in members:
        where = " ".join(filter(None, (one["route"], one["service_version"])))
        _print(console, f"  {one['trace_id']}  {_minute(one['time'])}  {where}")
        if one["question"]:
            _print(console, f"    asked: {_short(one['question'], 110)}")
        _print(console, f"    fails: {_short(one['reason'], 110)}")


def _pair(one: Form) -> str:
    kept, merged = f"{one['kept']} {one['kept_name']}", f"{one['merged']} {one['merged_name']}"
    figures = f"likeness {one['likeness']:.2f}, {one['shared']:.0%} shared"
    return f"{one['verdict']}: {kept} | {merged} ({figures})"
