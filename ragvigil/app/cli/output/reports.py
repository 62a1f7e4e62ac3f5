"""What `ragvigil status`, `trace`, `doctor`, `labels list` and `labels judges` print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from ragvigil.app.cli.output.console import (
    JsonObject,
    print_line,
    prints,
    short,
    table_of,
)
from ragvigil.model import figures
from ragvigil.model.wording.label_bars import bar_words

NO_SPANS = (
    "no span in 24 h. Point the service's exporter at ragvigil, then send some traffic:\n"
    "export OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318\n"
    "export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"
)
NOT_KEPT = {
    "rag": 'spans that no convention reads are not kept ([store] spans = "rag"): a service that '
    "sends no others is not listed",
    "none": 'spans are not kept ([store] spans = "none"): what they lack is told of answers only',
}
NAMELESS, NAMELESS_SCOPE = "(no service.name)", "(a scope without a name)"
NAMES = {"attributes": "span attributes", "events": "span events"}
REASONS = {
    "not_sent": "not sent",
    "truncated": "cut off by a limit of the SDK",
    "errored": "lost to an error",
}

CONTEXTS = {
    "reranked": "as the reranker returned them",
    "inferred": "retrieved, in an order from which a reranker without a span is inferred",
    "retrieved": "as the retriever returned them",
    "prompt": "read from the prompt",
    "declared": "as the service declares them",
}
"""What a record's chunks are, by `context_source`."""


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
        console.print("no RAG answer in it: `ragvigil doctor` says what its spans lack")
    for record in trace["records"]:
        _record(record, console)


def _record(record: JsonObject, console: Console) -> None:
    console.print(f"\nrecord {record['record_id']}  {record['route']}", style="bold")
    if record["query"] is not None:
        console.print(f"  question  {record['query']}")
    if record["context_source"] in CONTEXTS:
        unseen = "; what was retrieved is not seen" if "retrieved" in record["absent"] else ""
        console.print(f"  chunks    {CONTEXTS[record['context_source']]}{unseen}")
    for document in record["context"]:
        console.print(f"  chunk     [{document['id']}] {short(document['content'], console)}")
    if record["answer"] is not None:
        console.print(f"  answer    {record['answer'] or '(no text)'}")
    _verdict(record["verdict"], console)
    for field, reason in record["absent"].items():
        console.print(f"  absent    {field}: {reason}")
    if record["truncated"]:
        console.print(f"  cut       {', '.join(record['truncated'])}")
    if record["clock_replaced"]:
        claimed, counted = (record[name][:19].replace("T", " ") for name in ("ended", "time"))
        console.print(f"  clock     not believable: {claimed}; time of receipt: {counted}")
    for score in record["scores"]:
        value = figures.score(score["value"])
        words = bar_words(score["rubric"], score.get("details") or {})
        said = "; ".join(filter(None, (score["explanation"], words)))
        line = f"  {score['rubric']:<22} {value:>5}  {score['label']}  {said}"
        console.print(line)


def _verdict(verdict: JsonObject, console: Console) -> None:
    """What happened to the answer, as its page says."""
    console.print(f"  verdict   {' '.join(verdict['sentences'])}", style="bold")
    if verdict["failure_point"]:
        way = f", {verdict['failure_way']}" if verdict.get("failure_way") else ""
        console.print(f"  failed in {verdict['failure_point']}{way}")
    if verdict["support"]:
        console.print(f"            {verdict['support']}")


@prints
def print_doctor(reply: JsonObject, console: Console) -> None:
    """Per service: the spans it sent, what arrives, what is missing, the line that fixes it."""
    kept = reply.get("spans_kept", "all")  # an older daemon keeps all
    if kept != "all":
        console.print(NOT_KEPT[kept])
    elif not reply["sources"]:
        console.print(NO_SPANS)
    sources = {source["service"]: source for source in reply["sources"]}
    for service in reply["services"]:
        # A service with several instrumentors stands in several places, its spans in the first.
        _service(service, sources.pop(service["service"], None), console)
    for source in sources.values():
        _silent(source, console)


def _service(service: JsonObject, source: JsonObject | None, console: Console) -> None:
    name = service["service"] or NAMELESS
    heading = f"{name}, {service['instrumentor']}: {service['records']} answers in 24 h"
    console.print(heading, style="bold")
    if source is not None:
        _spans(source, console)
    shares = {field: share for field, share in service["present"].items() if share is not None}
    for title, fields in (
        ("in full", [field for field, share in shares.items() if share == 1]),
        (
            "in part",
            [f"{field} {figures.share(share)}" for field, share in shares.items() if 0 < share < 1],
        ),
        ("never", [field for field, share in shares.items() if share == 0]),
    ):
        if fields:
            console.print(f"  {title:<8} {', '.join(fields)}")
    # One fix often brings several fields back: they are shown under it, and it is shown once.
    by_fix: dict[tuple[Any, ...], list[JsonObject]] = {}
    for gap in service["findings"]:
        # What costs a score comes first.
        key = (not gap["rubrics_off"], gap["reason"], gap["share"], gap["scope"], gap["fix"])
        by_fix.setdefault(key, []).append(gap)
    for _, gaps in sorted(by_fix.items(), key=lambda item: bool(item[0][0])):
        _gaps(gaps, console)
    if not by_fix:
        console.print("  nothing is missing", style="green")
    console.print()


def _silent(source: JsonObject, console: Console) -> None:
    """Prints a service without answers, and what its spans lack."""
    console.print(f"{source['service'] or NAMELESS}: no answer in 24 h", style="bold")
    _spans(source, console)
    if source["part_of"]:
        services = ", ".join(service or NAMELESS for service in source["part_of"])
        console.print(f"  its spans are part of the answers of {services}", style="green")
    elif source["missing"]:
        console.print(f"  ✗ {source['missing']}", style="red")
        print_line(console, f"    fix   {source['fix']}")
    console.print()


def _spans(source: JsonObject, console: Console) -> None:
    print_line(console, f"  spans    {source['spans']}: {', '.join(source['kinds'])}")
    scopes = (scope or NAMELESS_SCOPE for scope in source["scopes"])
    print_line(console, f"  from     {', '.join(scopes)}")


def _gaps(gaps: Sequence[JsonObject], console: Console) -> None:
    """Prints missing fields that one line brings back; the line stays whole, for the clipboard.

    Fields without which every rubric still applies are no fault, and marked as such.
    """
    first = gaps[0]
    fields = ", ".join(str(NAMES.get(gap["field"], gap["field"])) for gap in gaps)
    reason = REASONS.get(first["reason"], first["reason"])
    rubrics_off = sorted({rubric for gap in gaps for rubric in gap["rubrics_off"]})
    mark, style = ("✗", "red") if rubrics_off else ("·", "dim")
    heading = f"  {mark} {fields}: {reason} in {figures.share(first['share'])} of answers"
    console.print(heading, style=style)
    for title, line in (
        ("from", first["scope"] or NAMELESS_SCOPE),
        ("off", ", ".join(rubrics_off) or "nothing: no rubric needs it"),
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
        verdict = (
            label["rubric"],
            label["trace_id"],
            figures.score(label["value"]),
            label["label"],
        )
        comment = short(label["comment"] or " ", console, 40)
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
        measured = (kappa, figures.score(judge["agreement"]), str(judge["labels"]))
        of_people = _interval(level["mean"], level["low"], level["high"])
        table.add_row(*map(Text, (*who, *measured, of_people)))
    console.print(table)
    for judge in reply["judges"]:
        console.print(f"{judge['rubric']}: {judge['reason']}{_misquoted(judge)}")


def _misquoted(judge: JsonObject) -> str:
    missed, quotes = judge["quotes_not_found"], judge["quotes"]
    return f"; {missed} of {quotes} quotes are not in the text" if missed else ""


def _interval(value: float | None, low: float | None, high: float | None) -> str:
    interval = "" if low is None or high is None else f" [{low:.2f}, {high:.2f}]"
    return "–" if value is None else f"{value:.2f}{interval}"
