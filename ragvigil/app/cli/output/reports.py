"""What `ragvigil status`, `trace`, `doctor`, `labels list` and `labels judges` print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from ragvigil.app.cli.output.console import (
    JsonObject,
    number,
    percent,
    print_line,
    prints,
    short,
    table_of,
)

NO_RECORD = (
    "no RAG answer in 24 h. Send some traffic, then ask again. If `ragvigil status` counts traces\n"
    "as not_rag, their spans show neither a retriever nor chunks in a prompt: switch content\n"
    "capture on in the instrumentor, or put ragvigil.retrieved on a span of your own."
)
NAMES = {"attributes": "span attributes", "events": "span events"}
REASONS = {
    "not_sent": "not sent",
    "truncated": "cut off by a limit of the SDK",
    "errored": "lost to an error",
}


@prints
def print_status(status: JsonObject, console: Console) -> None:
    """A line a value, under the name of its section; an unknown value is a dash."""
    for section, values in status.items():
        console.print(Text(section, style="bold"))
        rows = values.items() if isinstance(values, Mapping) else [("", values)]
        for name, value in rows:
            for line in (value or ["none"]) if isinstance(value, list) else [value]:
                known = "–" if line is None or line == "" else line
                console.print(f"  {name:<22} {known}")


@prints
def print_trace(trace: JsonObject, console: Console) -> None:
    """Every answer of a trace with its question, chunks and scores."""
    console.print(f"trace {trace['trace_id']}")
    if not trace["records"]:
        console.print("no RAG answer in it: no retrieval and no chunks in a prompt")
    for record in trace["records"]:
        _record(record, console)


def _record(record: JsonObject, console: Console) -> None:
    console.print(f"\nrecord {record['record_id']}  {record['route']}", style="bold")
    if record["query"] is not None:
        console.print(f"  question  {record['query']}")
    for document in record["context"]:
        console.print(f"  chunk     [{document['id']}] {short(document['content'])}")
    if record["answer"] is not None:
        console.print(f"  answer    {record['answer']}")
    for field, reason in record["absent"].items():
        console.print(f"  absent    {field}: {reason}")
    for score in record["scores"]:
        value = "–" if score["value"] is None else f"{score['value']:.2f}"
        line = f"  {score['rubric']:<22} {value:>5}  {score['label']}  {score['explanation']}"
        console.print(line)


@prints
def print_doctor(reply: JsonObject, console: Console) -> None:
    """Per service and instrumentor: what arrives, what is missing, the line that fixes it."""
    if not reply["services"]:
        console.print(NO_RECORD)
    for service in reply["services"]:
        _service(service, console)


def _service(service: JsonObject, console: Console) -> None:
    name = service["service"] or "(no service.name)"
    heading = f"{name}, {service['instrumentor']}: {service['records']} answers in 24 h"
    console.print(heading, style="bold")
    shares = {field: share for field, share in service["present"].items() if share is not None}
    for title, fields in (
        ("in full", [field for field, share in shares.items() if share == 1]),
        (
            "in part",
            [f"{field} {percent(share)}" for field, share in shares.items() if 0 < share < 1],
        ),
        ("never", [field for field, share in shares.items() if share == 0]),
    ):
        if fields:
            console.print(f"  {title:<8} {', '.join(fields)}")
    # One fix often brings several fields back: they are shown under it, and it is shown once.
    by_fix: dict[tuple[Any, ...], list[JsonObject]] = {}
    for gap in service["findings"]:
        key = (gap["reason"], gap["share"], gap["scope"], gap["fix"])
        by_fix.setdefault(key, []).append(gap)
    for gaps in by_fix.values():
        _gaps(gaps, console)
    if not by_fix:
        console.print("  nothing is missing", style="green")
    console.print()


def _gaps(gaps: Sequence[JsonObject], console: Console) -> None:
    """Prints missing fields that one line brings back; the line stays whole, for the clipboard."""
    first = gaps[0]
    fields = ", ".join(str(NAMES.get(gap["field"], gap["field"])) for gap in gaps)
    reason = REASONS.get(first["reason"], first["reason"])
    heading = f"  ✗ {fields}: {reason} in {percent(first['share'])} of answers"
    rubrics_off = sorted({rubric for gap in gaps for rubric in gap["rubrics_off"]})
    console.print(heading, style="red")
    for title, line in (
        ("from", first["scope"] or "(a scope without a name)"),
        ("off", ", ".join(rubrics_off) or "no rubric"),
        ("fix", first["fix"]),
    ):
        print_line(console, f"    {title:<5} {line}")


@prints
def print_labels(reply: JsonObject, console: Console) -> None:
    """A line a label."""
    if not reply["labels"]:
        console.print("no labels: send some with `ragvigil labels import FILE`")
        return
    table = table_of("time", "rubric", "trace", "value", "label", "labeller", "comment")
    for label in reply["labels"]:
        verdict = (label["rubric"], label["trace_id"], number(label["value"]), label["label"])
        comment = short(label["comment"] or " ", 40)
        table.add_row(*map(Text, (label["time"][:16], *verdict, label["labeller"], comment)))
    console.print(table)


@prints
def print_judges(reply: JsonObject, console: Console) -> None:
    """A line a rubric and judge, then why each has its state."""
    if not reply["judges"]:
        console.print("no judge has judged in the last day, and no label meets a verdict")
        return
    table = table_of("rubric", "judge", "state", "kappa", "agreement", "labels", "level (people)")
    for judge in reply["judges"]:
        level = judge["level"] or {"mean": None, "low": None, "high": None}
        who = (judge["rubric"], f"{judge['judge']} {judge['version']}".strip(), judge["state"])
        kappa = _interval(judge["kappa"], judge["low"], judge["high"])
        figures = (kappa, number(judge["agreement"]), str(judge["labels"]))
        of_people = _interval(level["mean"], level["low"], level["high"])
        table.add_row(*map(Text, (*who, *figures, of_people)))
    console.print(table)
    for judge in reply["judges"]:
        console.print(f"{judge['rubric']}: {judge['reason']}")


def _interval(value: float | None, low: float | None, high: float | None) -> str:
    interval = "" if low is None or high is None else f" [{low:.2f}, {high:.2f}]"
    return "–" if value is None else f"{value:.2f}{interval}"
