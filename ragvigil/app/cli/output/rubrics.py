"""What is printed of accepted rubrics, and of a guard that is drafted from an issue."""

from __future__ import annotations

from rich.console import Console

from ragvigil.app.cli.output.console import JsonObject, minute, print_line, prints
from ragvigil.model import figures


@prints
def print_rubrics(reply: JsonObject, console: Console) -> None:
    """A line a rubric."""
    if not reply["rubrics"]:
        console.print("no guards: `ragvigil issues guard ID` drafts one")
    for rubric in reply["rubrics"]:
        print_line(console, _line(rubric))


@prints
def print_accepted(rubric: JsonObject, console: Console) -> None:
    """The rubric that was accepted or removed."""
    print_line(console, _line(rubric))


@prints
def print_guard(draft: JsonObject, console: Console) -> None:
    """What a drafted guard looks for, and what it catches."""
    by = "code, on every answer" if draft["how"] == "pattern" else "a judge, on its sample"
    print_line(console, f"{draft['name']}: {draft['check']} ({by})", style="bold")
    if draft["why_no_pattern"]:
        print_line(console, f"  {draft['why_no_pattern']}")
    for name, words in (
        ("recall", "members that it was not made from"),
        ("precision", "of the members and neighbours that it fails are members"),
        ("neighbours", "passing neighbours and other passing answers"),
        ("week", "answers of a sample of 7 days"),
    ):
        print_line(console, f"  {name:<10} {_caught(draft[name])} {words}")
    if draft["week"]["fails"]:
        of = f"{draft['week_failing']} of these {draft['week']['fails']}"
        print_line(console, f"  {'':<10} {of} fail another rubric, too")
    cost = "price unknown" if draft["usd"] is None else f"US$ {draft['usd']:.4f}"
    print_line(console, f"  cost {cost}, {figures.count(draft['tokens'])} tokens")


def _caught(caught: JsonObject) -> str:
    count = f"{caught['fails']} of {caught['answers']}"
    if caught["share"] is None:
        return count
    low, high = figures.share(caught["low"]), figures.share(caught["high"])
    return f"{count}, {figures.share(caught['share'])} [{low}, {high}],"


def _line(rubric: JsonObject) -> str:
    state = "on" if rubric["is_on"] else f"off: {rubric['why_off']}"
    of = f"issue {rubric['issue_id']}" if rubric["issue_id"] else "no issue"
    by = f"accepted by {rubric['accepted_by'] or 'somebody'}, {minute(rubric['accepted'])}"
    return f"{rubric['name']}  {rubric['how']}  {rubric['layer']}  {of}  {state}  {by}"
