"""What `ragvigil golden` prints: tables for people, one JSON document for scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console

from ragvigil.app.cli.output.console import (
    JsonObject,
    actor_of,
    minute,
    print_line,
    prints,
    table_of,
)
from ragvigil.model import figures

STANDINGS = {"flaky": ", flaky", "fails_again": ", FAILS AGAIN"}
OUTCOMES = {True: "passes", False: "fails", None: "cannot be told"}


@prints
def print_cases(reply: JsonObject, console: Console) -> None:
    """Two lines a case, and what is wrong with the set."""
    for case in reply["cases"]:
        proposed = f"{case['query_type']}, proposed by {case['proposed_by']}"
        mark = STANDINGS.get(reply["standings"].get(case["case_id"], ""), "")
        print_line(console, f"{case['case_id']}  {_state(case)}{mark}, {proposed}", style="bold")
        print_line(console, f"  {case['question']}")
    if not reply["cases"]:
        console.print(
            "no cases: `ragvigil golden propose --trace ID` makes one from a failing answer"
        )
    _problems(reply, console)


@prints
def print_case(case: JsonObject, console: Console) -> None:
    """The case, its checks before signing, what was done, its runs."""
    mark = STANDINGS.get(case["standing"] or "", "")
    print_line(console, f"{case['case_id']}  {_state(case)}{mark}", style="bold")
    for line in _lines(case):
        print_line(console, line)
    checks = case["checks"]
    if case["state"] == "proposed":
        _listed(console, "cannot be signed", checks["blocking"])
        warnings = [*checks["warnings"], *filter(None, [checks["unseen"]])]
        _listed(console, "look before signing", warnings)
    _listed(console, "what was done", [_step(event) for event in case["events"]])
    runs = [f"{minute(run['time'])}  {_outcome(run)}" for run in case["runs"]]
    _listed(console, "runs", runs)


@prints
def print_state(case: JsonObject, console: Console) -> None:
    """One line: the case's id and its state."""
    print_line(console, f"{case['case_id']} is {_state(case)}")


@prints
def print_signed(case: JsonObject, console: Console) -> None:
    """The state of a signed case, and its first run."""
    print_line(console, f"{case['case_id']} is {_state(case)}")
    print_line(console, _outcome(case["run"]))


@prints
def print_run(run: JsonObject, console: Console) -> None:
    """One line: how the run ended."""
    print_line(console, _outcome(run))


@prints
def print_mix(mix: JsonObject, console: Console) -> None:
    """A line a type of query, then the size of the set."""
    table = table_of("type", "cases", "share", "aim", "missing")
    for part in mix["parts"]:
        shares = (figures.share(part["share"]), figures.share(part["aim"]))
        table.add_row(part["query_type"], str(part["cases"]), *shares, str(part["missing"]))
    console.print(table)
    print_line(
        console,
        f"{mix['cases']} signed cases; {mix['floor']} are the least, {mix['enough']} are enough. "
        f"{figures.share(mix['from_production'])} broke in production; the aim is 50 %",
    )


def _problems(reply: JsonObject, console: Console) -> None:
    if reply["problem"]:
        print_line(console, f"the set cannot be read or signed into: {reply['problem']}")
    for line in reply["broken"]:
        where = f"line {line['line']}: " if line["line"] else ""
        print_line(console, f"broken: {where}{line['case_id']} {line['why']}")


def _state(case: JsonObject) -> str:
    by = f" by {case['approved_by']}" if case["approved_by"] else ""
    return f"{case['state']}{by}, revision {case['revision']}"


def _lines(case: JsonObject) -> Iterator[str]:
    yield f"question      {case['question']}"
    if case["gold_answer"]:
        yield f"answer        {case['gold_answer']}"
    for fact in case["expected_facts"]:
        yield f"{fact['importance']:<5} fact    {fact['fact']}"
    for name in ("gold_chunk_ids", "gold_texts", "tags", "edited_by"):
        if case[name]:
            yield f"{name:<13} {', '.join(case[name])}"
    for name in ("query_type", "failure_mode", "service", "route", "trace_id", "issue_id",
                 "proposed_by", "content_hash"):  # fmt: skip
        if case[name]:
            yield f"{name:<13} {case[name]}"


def _step(event: JsonObject) -> str:
    step = f"{event['verb']}{actor_of(event)}, revision {event['revision']}"
    return f"{minute(event['time'])}  {step}  {event['text']}"


def _outcome(run: JsonObject) -> str:
    return f"{OUTCOMES[run['is_pass']]} ({run['against']}): {run['why']}"


def _listed(console: Console, title: str, lines: Sequence[str]) -> None:
    """Prints lines under a title; nothing where there are none."""
    if lines:
        print_line(console, f"\n{title}", style="bold")
    for line in lines:
        print_line(console, f"  {line}")
