"""What `ragvigil topics` prints."""

from __future__ import annotations

from rich.console import Console

from ragvigil.app.cli.output.console import JsonObject, place_of, print_line, prints
from ragvigil.model import figures

VERDICTS = {"problem": "problem", "good": "good", "cannot_tell": "cannot tell yet"}


@prints
def print_topics(reply: JsonObject, console: Console) -> None:
    """The topics of each service, and what is missing where there is no map yet."""
    for topic_map in reply["maps"]:
        _map(topic_map, console)
    with_map = {place_of(topic_map) for topic_map in reply["maps"]}
    waiting = [service for service in reply["collecting"] if place_of(service) not in with_map]
    for service in waiting:
        progress = f"{service['questions']} of {reply['least_questions']} questions"
        print_line(console, f"{place_of(service)}: no map yet, {progress}")
    if reply["why"]:
        print_line(console, f"nothing is collected: {reply['why']}")
    elif not reply["maps"] and not waiting:
        console.print("no topics yet: no question has been embedded")


def _map(topic_map: JsonObject, console: Console) -> None:
    heading = f"{topic_map['questions']:,} questions since {topic_map['since'][:10]}"
    print_line(console, f"{place_of(topic_map)}: {heading}\n")
    for topic in topic_map["topics"]:
        print_line(console, f"{topic['name']}  {topic['topic_id']}", style="bold")
        print_line(console, f"  {_figures(topic)}{': a GAP' if topic['is_gap'] else ''}")
    print_line(console, "in no topic", style="bold")
    print_line(console, f"  {_figures(topic_map['rest'])}")


def _figures(topic: JsonObject) -> str:
    thumbs, cases = topic["thumbs_down"], topic["golden_cases"]
    asked, failing = (figures.share(topic[name]["share"]) for name in ("asked", "failing"))
    down = f"{figures.share(thumbs['share'])}{_interval(thumbs)} thumbs-down"
    rated = f"{down if thumbs['of'] else 'nobody rated'} ({VERDICTS[topic['verdict']]})"
    return f"{asked} of questions, {failing} of them fail, {rated}, golden cases {cases}"


def _interval(share: JsonObject) -> str:
    if not share["of"]:
        return ""
    low, high = figures.share(share["low"]), figures.share(share["high"])
    return f" [{low}, {high}] of {figures.count(share['of'])}"
