"""What `ragvigil topics` prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from ragvigil.app.show import _printing, _table

VERDICTS = {"problem": "problem", "good": "good", "cannot_tell": "cannot tell yet"}


@_printing
def topics(found: Mapping[str, Any], console: Console) -> None:
    """A table for each service, and what is missing for those without one."""
    for one in found["maps"]:
        _map(one, console)
    drawn = {(one["service"], one["environment"]) for one in found["maps"]}
    waiting = [
        one for one in found["collecting"] if (one["service"], one["environment"]) not in drawn
    ]
    for one in waiting:
        console.print(
            Text(
                f"{_place(one)}: no map yet, {one['questions']} of {found['least_questions']} "
                "questions"
            )
        )
    if found["why"]:
        console.print(Text(f"nothing is collected: {found['why']}"))
    elif not found["maps"] and not waiting:
        console.print("no topics yet: no question has been embedded")


def _map(one: Mapping[str, Any], console: Console) -> None:
    console.print(
        Text(f"{_place(one)}: {one['questions']:,} questions since {one['since'][:10]}", "bold")
    )
    table = _table("topic", "id")
    for heading in ("asked", "failing", "thumbs-down", "verdict", "golden"):
        table.add_column(heading, justify="right", no_wrap=True)
    for topic in one["topics"]:
        golden = "GAP" if topic["is_gap"] else str(topic["golden_cases"])
        table.add_row(*map(Text, (topic["name"], topic["topic_id"], *_cells(topic), golden)))
    rest = one["rest"]
    table.add_row(*map(Text, ("in no topic", "", *_cells(rest), str(rest["golden_cases"]))))
    console.print(table)


def _cells(topic: Mapping[str, Any]) -> tuple[str, ...]:
    thumbs = topic["thumbs_down"]
    liked = "nobody rated" if not thumbs["of"] else _percent(thumbs) + _interval(thumbs)
    verdict = VERDICTS[topic["verdict"]]
    return _percent(topic["asked"]), _percent(topic["failing"]), liked, verdict


def _percent(share: Mapping[str, Any]) -> str:
    return "" if share["share"] is None else f"{100 * share['share']:.1f} %"


def _interval(share: Mapping[str, Any]) -> str:
    low, high = 100 * share["low"], 100 * share["high"]
    return f" [{low:.1f}, {high:.1f}] of {share['of']:,}"


def _place(one: Mapping[str, Any]) -> str:
    return f"{one['service']} {one['environment']}".strip()
