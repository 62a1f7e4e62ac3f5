"""What `ragvigil issues` prints: tables for people, one JSON document for scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console

from ragvigil.app.cli.output.console import (
    JsonObject,
    actor_of,
    minute,
    print_line,
    prints,
    short,
    sparkline,
)
from ragvigil.model import figures

TRAITS = {
    "route": "routes",
    "service_version": "releases",
    "prompt_version": "prompts",
    "index_epoch": "indexes",
    "llm_model": "models",
}


@prints
def print_issues(reply: JsonObject, console: Console) -> None:
    """Two lines an issue, then how many failing answers are in no issue."""
    for issue in reply["issues"]:
        state = f"{issue['state']:<12}  {issue['family']:<13}"
        since = f"since {minute(issue['first'])[:10]}"
        print_line(console, f"{issue['issue_id']}  {state}  {since}  {_bars(issue)}", style="bold")
        harm = f"about {figures.about(issue['harmed_per_day'])} answers a day"
        print_line(console, f"  {issue['message'][1]}, {harm}: {issue['name']}")
    if not reply["issues"]:
        console.print("no issues: three failing answers of one kind make an issue")
    more = reply["found"] - len(reply["issues"])
    if more:
        print_line(console, f"and {more} more: `--limit {reply['found']}`")
    print_line(console, f"not grouped: {reply['not_grouped']} failing answers of 7 days")
    if reply["pending_minutes"] != 0:
        print_line(console, f"{_pending(reply['pending_minutes'])}: ask again in a minute")
    for family in reply["background"]:
        if family["requests"] or family["failing"]:
            print_line(console, f"  {family['family']}: {_background(family)}")


@prints
def print_issue(issue: JsonObject, console: Console) -> None:
    """The story of an issue: what, why with evidence and fix, how much, where, examples, acts."""
    print_line(console, f"{issue['issue_id']}  {_state(issue)}", style="bold")
    name, count, *rest, _ = issue["message"]  # the last line is the way to here
    print_line(console, name, style="bold")
    for incident in issue["incidents"]:
        line = f"Incident: {incident['incident_id']} {incident['state']}, {incident['words']}"
        print_line(console, line)
    if issue["root_cause"]:
        _cause(issue["root_cause"], console)
    for line in (f"{count}{_apart(issue['count'])}; by day {_bars(issue).lstrip()}", *rest):
        print_line(console, line)
    print_line(console, f"Harms about {figures.about(issue['harmed_per_day'])} answers a day")
    print_line(console, f"Around it: {_background(issue['background'])}")
    if len(issue["facets"]) > 1:
        fails = [f"{facet['rubric']} {facet['members']}" for facet in issue["facets"]]
        print_line(console, f"{'rubrics':<9} {', '.join(fails)}")
    for trait, plural in TRAITS.items():
        values = [_trait(row) for row in issue["traits"] if row["name"] == trait]
        if values:
            print_line(console, f"{plural:<9} {', '.join(values)}")
    if issue["terms"]:
        print_line(console, f"{'words':<9} {', '.join(issue['terms'])}")
    beside = {(row["beside_trace_id"], row["beside_record_id"]): row for row in issue["neighbours"]}
    _examples(issue["representatives"], beside, console)
    for pair in issue["pairs"]:
        print_line(console, f"pair: {_pair(pair)}")
    print_line(console, "\nwhat was done", style="bold")
    for event in issue["events"]:
        step = f"{event['verb']}{actor_of(event)}  {event['text']}"
        print_line(console, f"  {minute(event['time'])}  {step}")


@prints
def print_pairs(reply: JsonObject, console: Console) -> None:
    """A line a pair."""
    if not reply["pairs"]:
        console.print("no two issues look alike")
    for pair in reply["pairs"]:
        print_line(console, _pair(pair))


@prints
def print_state(issue: JsonObject, console: Console) -> None:
    """One line: the issue's id, state and name."""
    print_line(console, f"{issue['issue_id']} is {_state(issue)}: {issue['name']}")


@prints
def print_root_cause(report: JsonObject, console: Console) -> None:
    """A root-cause report on its own."""
    _cause(report, console)


@prints
def print_background(reply: JsonObject, console: Console) -> None:
    """A line a kind: how many, how often, which."""
    if not reply["kinds"]:
        console.print("every answer of 7 days that failed is in an issue")
    for kind in reply["kinds"]:
        counted, routes = kind["count"], kind["routes"]
        about = "" if counted["about"] == counted["seen"] else f", about {counted['about']:.0f}"
        of = f"{counted['seen']}{about} of {kind['answers']} answers"
        rate = "" if kind["rate"] is None else f", {figures.share(kind['rate'])}"
        today = f"{kind['last_day']} in 24 hours"
        place = f" ({len(routes)} routes)" if len(routes) > 1 else ""
        print_line(console, f"{kind['family']:<13}  {of}{rate}; {today}: {kind['name']}{place}")


@prints
def print_groups(reply: JsonObject, console: Console) -> None:
    """The groups, each with examples."""
    if not reply["groups"]:
        console.print("no group stands out: they fail each in its own way")
    for group in reply["groups"]:
        print_line(console, f"{group['failures']:>5}  {group['name']}", style="bold")
        for example in group["examples"]:
            asked = short(example["question"], console, 60)
            print_line(console, f"       {example['trace_id']}  {asked}")
            print_line(console, f"         fails: {short(example['reason'], console, 100)}")


def _pending(minutes: int | None) -> str:
    if minutes is None:
        return "failing answers have not been grouped since the daemon started"
    return f"{minutes} minutes of traffic are not grouped yet"


def _bars(issue: JsonObject) -> str:
    """A sparkline of 14 days; a day without members is a gap."""
    return sparkline([count or None for count in issue["days"]])


def _apart(count: JsonObject) -> str:
    return f", {count['apart']} of them picked as suspicious" if count["apart"] else ""


def _state(issue: JsonObject) -> str:
    """The state with what bounds it, and who has the issue."""
    bounds = {
        "resolved": f" in {issue['resolved_in']}" if issue["resolved_in"] else "",
        "ignored": _ignored(issue),
    }
    who = f", assigned to {issue['assignee']}" if issue["assignee"] else ""
    kind = ", provisional" if issue["is_provisional"] else ""
    merged = f", merged into {issue['merged_into']}" if issue["merged_into"] else ""
    return f"{issue['state']}{bounds.get(issue['state'], '')}{who}{kind}{merged}"


def _ignored(issue: JsonObject) -> str:
    bounds = []
    if issue["ignored_until"]:
        bounds.append(f"until {minute(issue['ignored_until'])}")
    if issue["ignored_members"]:
        bounds.append(f"until it has {issue['ignored_members']} members")
    return f" {' or '.join(bounds)}" if bounds else " for ever"


def _background(background: JsonObject) -> str:
    """The count and the rate; with few answers the prior pulls the rate away from the count."""
    count = f"{background['failing']} of {background['requests']} answers fail outside of issues"
    return f"{count}; background rate {figures.share(background['rate'])}, after adding 2 in 400"


def _cause(report: JsonObject, console: Console) -> None:
    grades = [f"{grade['name']} {grade['grade']}/5" for grade in report["grades"]]
    is_code = report["by"] == "code"
    heading = "what code can tell" if is_code else f"why ({', '.join([report['by'], *grades])})"
    print_line(console, f"\n{heading}, {minute(report['time'])}", style="bold")
    if not is_code:
        print_line(console, f"  {report['cause'] or 'not determined: ' + report['ended']}")
    if report["fix"]:
        print_line(console, f"  at once: {report['fix']}")
    for quote in report["quotes"][:3]:
        print_line(console, f"  “{short(quote['text'], console, 120)}”  trace {quote['trace_id']}")
    for line in report["text"].splitlines():
        print_line(console, f"  {line}")
    console.print()


def _trait(trait: JsonObject) -> str:
    """The members with it, since when, and other answers with it where that is known."""
    since = f"since {minute(trait['first'])}"
    known = f", elsewhere {trait['elsewhere']} of {trait['of_elsewhere']}"
    return f"{trait['value']} {trait['members']} ({since}{known if trait['of_elsewhere'] else ''})"


def _examples(
    members: Sequence[JsonObject], beside: Mapping[tuple[str, str], JsonObject], console: Console
) -> None:
    """Representatives, each with the passing answer beside it; `beside` by trace and record id."""
    if members:
        print_line(console, "\nexamples: `ragvigil trace ID`", style="bold")
    for member in members:
        where = " ".join(filter(None, (member["route"], member["service_version"])))
        print_line(console, f"  {member['trace_id']}  {minute(member['time'])}  {where}")
        if member["question"]:
            print_line(console, f"    asked: {short(member['question'], console, 110)}")
        print_line(console, f"    fails: {short(member['reason'], console, 110)}")
        passing = beside.get((member["trace_id"], member["record_id"]))
        if passing:
            asked = f"{minute(passing['time'])}  {short(passing['question'], console, 60)}"
            print_line(console, f"    passes: {passing['trace_id']}  {asked}")


def _pair(pair: JsonObject) -> str:
    kept, merged = f"{pair['kept']} {pair['kept_name']}", f"{pair['merged']} {pair['merged_name']}"
    alike = f"likeness {pair['likeness']:.2f}, {figures.share(pair['shared'])} shared"
    return f"{pair['verdict']}: {kept} | {merged} ({alike})"
