"""What all output shares: JSON or tables, widths, escaped text, numbers in one form."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TextIO

from rich.console import Console
from rich.table import Table

from ragvigil.model.text import visible

JsonObject = Mapping[str, Any]
"""An object of the API's JSON; its keys are those of the forms in `ragvigil.web.views`."""

BARS = "▁▂▃▄▅▆▇█"
SPACES = dict.fromkeys((0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " ")
"""Spaces of other widths, which a terminal shows like ours."""
UNBOUNDED = 1_000_000
"""Characters of a line in a pipe, which has no width: rich would cut every table to 80."""


class Print(Protocol):
    """Prints a reply of the API, as JSON or for people."""

    def __call__(self, reply: Any, *, as_json: bool) -> None:
        """Prints it on standard output."""
        ...


def prints(show: Callable[[Any, Console], None]) -> Print:
    """Makes a function that writes to a console one that prints JSON where `as_json` is set."""

    def printed(reply: Any, *, as_json: bool) -> None:
        if as_json:
            print(json.dumps(reply))
        else:
            show(escaped(reply), open_console())

    printed.__doc__ = show.__doc__
    return printed


def open_console() -> Console:
    """A console on standard output, as wide as the terminal or `COLUMNS`, else unbounded.

    It prints texts as they are: no markup, no emoji names, no line breaks of its own.
    """
    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    width = None if has_width else UNBOUNDED
    # Brackets and colons of a text are no markup, and a long text makes no line of ours.
    return Console(width=width, markup=False, emoji=False, highlight=False, soft_wrap=True)


def print_line(console: Console, line: str, style: str = "") -> None:
    """Prints a line in a style."""
    console.print(line, style=style)


def print_text(text: object, *, to: TextIO | None = None) -> None:
    """Prints a text that holds what others wrote, on one line, on standard output or `to`."""
    print(escaped(str(text)), file=to or sys.stdout)


def indented(text: str) -> str:
    """A text of several lines, indented so that none of them looks like a line of ours."""
    return "\n".join(f"  {escaped(line)}" for line in text.split("\n"))


def table_of(*headings: str) -> Table:
    """An empty table without borders; its cells are never wrapped."""
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, no_wrap=True)
    return table


def escaped(value: Any) -> Any:
    """A JSON value whose texts stand on one line, with an escape for each that is no glyph.

    Answers and names come from the watched service: a terminal must not obey them.

    >>> escaped({"answer": "\\x1b[2J"})
    {'answer': '\\\\x1b[2J'}
    """
    if isinstance(value, str):
        return visible(value.translate(SPACES))
    if isinstance(value, Mapping):
        return {escaped(key): escaped(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [escaped(item) for item in value]
    return value


def sparkline(values: Sequence[float | None]) -> str:
    """One character a value, lowest to highest; a gap where there is no value.

    >>> sparkline([0.0, 0.5, None, 1.0])
    '▁▅ █'
    """
    known = [value for value in values if value is not None]
    if not known:
        return ""
    low, span = min(known), max(known) - min(known)
    return "".join(
        " " if value is None else BARS[round((value - low) / span * 7) if span else 3]
        for value in values
    )


def place_of(thing: JsonObject) -> str:
    """Service and environment."""
    return f"{thing['service']} {thing['environment']}".strip()


def minute(time: str | None) -> str:
    """An ISO time to the minute, empty for none."""
    return (time or "")[:16].replace("T", " ")


def actor_of(event: JsonObject) -> str:
    """Who did it, empty for the daemon."""
    return f" by {event['actor']}" if event["actor"] else ""


def short(text: str | None, console: Console, width: int = 90) -> str:
    """A text on one line, cut at `width` characters; whole in a pipe."""
    flat = " ".join((text or "(text not in the spans)").split())
    if console.width == UNBOUNDED:
        return flat
    return flat if len(flat) <= width else flat[: width - 1] + "…"
