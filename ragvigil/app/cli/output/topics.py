"""What `ragvigil topics` prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from ragvigil.app.cli.output.text import _place, _print, _printing

VERDICTS = {"problem": "problem", "good": "good", "cannot_tell": "cannot tell yet"}


@_printing
def topics(found: Mapping[str, Any], console: Console) -> None:
    """The topics of each service, and what is missing for those without any."""
    for one in found["maps"]:
        _map(one, console)
    drawn = {(one["service"], one["environment"]) for one in found["maps"]}
    waiting = [
        one for one in found["collecting"] if (one["service"], one["environment"]) not in drawn
    ]
    for one in waiting:
        known = f"{one['questions']} of {found['least_questions']} questions"
        _print(console, f"{_place(one)}: no map yet, {known}")
    if found["why"]:
        _print(console, f"nothing is collected: {found['why']}")
    elif not found["maps"] and not waiting:
        console.print("no topics yet: no question has been embedded")


def _map(one: Mapping[str, Any], console: Console) -> None:
    _print(console, f"{_place(one)}: {one['questions']:,} questions since {one['since'][:10]}\n")
    for topic in one["topics"]:
        _print(console, f"{topic['name']}  {topic['topic_id']}", style="bold")
        _print(console, f"  {_figures(topic)}{': a GAP' if topic['is_gap'] else ''}")
    _print(console, "in no topic", style="bold")
    _print(console, f"  {_figures(one['rest'])}")


def _figures(topic: Mapping[str, Any]) -> str:
    thumbs, cases = topic["thumbs_down"], topic["golden_cases"]
    liked = f"{_percent(thumbs)}{_interval(thumbs)} thumbs-down" if thumbs["of"] else "nobody rated"
    asked = f"{_percent(topic['asked'])} of questions, {_percent(topic['failing'])} of them fail"
    return f"{asked}, {liked} ({VERDICTS[topic['verdict']]}), golden cases {cases}"


def _percent(share: Mapping[str, Any]) -> str:
    return "–" if share["share"] is None else f"{100 * share['share']:.1f} %"


def _interval(share: Mapping[str, Any]) -> str:
    low, high = 100 * share["low"], 100 * share["high"]
    return f" [{low:.1f}, {high:.1f}] of {share['of']:,}"
