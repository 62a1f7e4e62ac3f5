"""What the reading commands print: tables for people, one JSON document for scripts."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

BARS = "▁▂▃▄▅▆▇█"
NO_RECORD = (
    "no RAG record in 24 h. Send some traffic, then ask again. If `ragvigil status` counts traces\n"
    "as not_rag, their spans show neither a retriever nor chunks in a prompt: switch content\n"
    "capture on in the instrumentor, or put ragvigil.retrieved on a span of your own."
)
NAMES = {"attributes": "span attributes", "events": "span events"}
REASONS = {
    "not_sent": "not sent",
    "truncated": "cut off by a limit of the SDK",
    "errored": "lost to an error",
}
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
PIPED_WIDTH = 240
"""A pipe has no width; by default everything would be cut to 80 characters."""


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


def _printing(show: Callable[[Any, Console], None]) -> Callable[..., None]:
    """JSON where asked for, else the table."""

    def printed(found: Any, *, as_json: bool) -> None:
        if as_json:
            print(json.dumps(found))
        else:
            show(_printable(found), Console(width=_width()))

    return printed


def _width() -> int | None:
    """That of the terminal (None), or as the user says."""
    is_known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return None if is_known else PIPED_WIDTH


def _print(console: Console, line: str, style: str = "") -> None:
    """A line as it is, however long: brackets are no markup, and a terminal wraps it."""
    console.print(line, style=style, markup=False, highlight=False, soft_wrap=True)


def _place(one: Mapping[str, Any]) -> str:
    return f"{one['service']} {one['environment']}".strip()


def _minute(time: str | None) -> str:
    return (time or "")[:16].replace("T", " ")


def _printable(found: Any) -> Any:
    """Control characters, which could command a terminal, in their escaped form."""
    if isinstance(found, str):
        return CONTROL.sub(lambda match: repr(match[0])[1:-1], found)
    if isinstance(found, Mapping):
        return {_printable(key): _printable(value) for key, value in found.items()}
    if isinstance(found, list | tuple):
        return [_printable(one) for one in found]
    return found


@_printing
def status(found: Mapping[str, Any], console: Console) -> None:
    """Processes, traffic and the ledger."""
    for section, values in found.items():
        console.print(Text(section, style="bold"))
        rows = values.items() if isinstance(values, Mapping) else [("", values)]
        for name, value in rows:
            for line in (value or ["none"]) if isinstance(value, list) else [value]:
                console.print(f"  {name:<22} {line}", markup=False, soft_wrap=True)


@_printing
def trace(found: Mapping[str, Any], console: Console) -> None:
    """Every record of a trace with its chunks, citations and scores."""
    console.print(f"trace {found['trace_id']}", markup=False)
    if not found["records"]:
        console.print("no RAG record in it: no retrieval and no chunks in a prompt")
    for record in found["records"]:
        _record(record, console)


def _record(record: Mapping[str, Any], console: Console) -> None:
    console.print(f"\nrecord {record['record_id']}  {record['route']}", style="bold", markup=False)
    if record["query"] is not None:
        console.print(f"  question  {record['query']}", markup=False)
    for document in record["context"]:
        console.print(f"  chunk     [{document['id']}] {_short(document['content'])}", markup=False)
    if record["answer"] is not None:
        console.print(f"  answer    {record['answer']}", markup=False)
    for field, reason in record["absent"].items():
        console.print(f"  absent    {field}: {reason}", markup=False)
    for score in record["scores"]:
        value = "–" if score["value"] is None else f"{score['value']:.2f}"
        line = f"  {score['rubric']:<22} {value:>5}  {score['label']}  {score['explanation']}"
        console.print(line, markup=False)


def _short(text: str | None, width: int = 90) -> str:
    flat = " ".join((text or "(text not in the spans)").split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


@_printing
def doctor(found: Mapping[str, Any], console: Console) -> None:
    """Per service and instrumentor: what arrives, what is missing, the line that fixes it."""
    if not found["services"]:
        console.print(NO_RECORD)
    for service in found["services"]:
        _service(service, console)


def _service(service: Mapping[str, Any], console: Console) -> None:
    name = service["service"] or "(no service.name)"
    heading = f"{name}, {service['instrumentor']}: {service['records']} records in 24 h"
    console.print(heading, style="bold", markup=False)
    shares = {field: share for field, share in service["present"].items() if share is not None}
    for title, fields in (
        ("in full", [field for field, share in shares.items() if share == 1]),
        (
            "in part",
            [f"{field} {_share(share)}" for field, share in shares.items() if 0 < share < 1],
        ),
        ("never", [field for field, share in shares.items() if share == 0]),
    ):
        if fields:
            console.print(f"  {title:<8} {', '.join(fields)}", highlight=False, soft_wrap=True)
    alike: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for finding in service["findings"]:
        key = (finding["reason"], finding["share"], finding["scope"], finding["fix"])
        alike.setdefault(key, []).append(finding)
    for findings in alike.values():
        _findings(findings, console)
    if not alike:
        console.print("  nothing is missing", style="green")
    console.print()


def _findings(findings: Sequence[Mapping[str, Any]], console: Console) -> None:
    """Fields that one line brings back, together; the line stays whole, for the clipboard."""
    first = findings[0]
    fields = ", ".join(NAMES.get(one["field"], one["field"]) for one in findings)
    reason = REASONS.get(first["reason"], first["reason"])
    heading = f"  ✗ {fields}: {reason} in {_share(first['share'])} of records"
    off = sorted({rubric for finding in findings for rubric in finding["rubrics_off"]})
    console.print(heading, style="red", highlight=False, soft_wrap=True)
    for title, line in (
        ("from", first["scope"] or "(a scope without a name)"),
        ("off", ", ".join(off) or "no rubric"),
        ("fix", first["fix"]),
    ):
        _print(console, f"    {title:<5} {line}")


def _share(share: float) -> str:
    """Percent, with one decimal where it is close to none or all."""
    return f"{share:.0%}" if share in (0, 1) or 0.01 <= share <= 0.99 else f"{share:.1%}"


@_printing
def labels(found: Mapping[str, Any], console: Console) -> None:
    """A line a label."""
    if not found["labels"]:
        console.print("no labels: send some with `ragvigil labels import FILE`")
        return
    table = _table("time", "rubric", "trace", "value", "label", "labeller", "comment")
    for one in found["labels"]:
        said = (one["rubric"], one["trace_id"], _number(one["value"]), one["label"])
        cells = (one["time"][:16], *said, one["labeller"], _short(one["comment"] or " ", 40))
        table.add_row(*map(Text, cells))
    console.print(table)


@_printing
def judges(found: Mapping[str, Any], console: Console) -> None:
    """A line a rubric and judge, and why each stands as it does."""
    if not found["judges"]:
        console.print("no judge has judged in the last day, and no label meets a verdict")
        return
    table = _table("rubric", "judge", "state", "kappa", "agreement", "labels", "level (people)")
    for one in found["judges"]:
        level = one["level"] or {"mean": None, "low": None, "high": None}
        who = (one["rubric"], f"{one['judge']} {one['version']}".strip(), one["state"])
        figures = (_within(one["kappa"], one["low"], one["high"]), _number(one["agreement"]))
        of_people = _within(level["mean"], level["low"], level["high"])
        table.add_row(*map(Text, (*who, *figures, str(one["labels"]), of_people)))
    console.print(table)
    for one in found["judges"]:
        console.print(f"{one['rubric']}: {one['reason']}", markup=False, highlight=False)


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, no_wrap=True)
    return table


def _within(value: float | None, low: float | None, high: float | None) -> str:
    interval = "" if low is None or high is None else f" [{low:.2f}, {high:.2f}]"
    return "–" if value is None else f"{value:.2f}{interval}"
