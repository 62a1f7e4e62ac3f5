"""What `ragvigil golden` prints: tables for people, one JSON document for scripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console

from ragvigil.app.cli.output.text import _minute, _print, _printing, _table

Found = Mapping[str, Any]
OUTCOMES = {True: "passes", False: "fails", None: "cannot be told"}


@_printing
def cases(found: Found, console: Console) -> None:
    """Two lines a case, and what is wrong with the set."""
    for one in found["cases"]:
        proposed = f"{one['query_type']}, proposed by {one['proposed_by']}"
        _print(console, f"{one['case_id']}  {_stands(one)}, {proposed}", style="bold")
        _print(console, f"  {one['question']}")
    if not found["cases"]:
        console.print("no cases: `ragvigil golden propose --trace ID` makes one of a failing trace")
    _wrong(found, console)


@_printing
def case(found: Found, console: Console) -> None:
    """The case, what must be known of it, what was done, its runs."""
    _print(console, f"{found['case_id']}  {_stands(found)}", style="bold")
    for line in _lines(found):
        _print(console, line)
    checks = found["checks"]
    for title, some in (
        ("cannot be signed", checks["blocking"]),
        ("look before signing", [*checks["warnings"], *filter(None, [checks["unseen"]])]),
    ):
        _listed(console, title, some if found["state"] == "proposed" else ())
    _listed(console, "what was done", [_step(one) for one in found["events"]])
    _listed(console, "runs", [f"{_minute(one['time'])}  {_outcome(one)}" for one in found["runs"]])


@_printing
def acted(found: Found, console: Console) -> None:
    """One line: how the case stands now."""
    _print(console, f"{found['case_id']} is {_stands(found)}")


@_printing
def signed(found: Found, console: Console) -> None:
    """How the case stands, and its first run."""
    _print(console, f"{found['case_id']} is {_stands(found)}")
    _print(console, _outcome(found["run"]))


@_printing
def ran(found: Found, console: Console) -> None:
    """One line: how the run ended."""
    _print(console, _outcome(found))


@_printing
def mix(found: Found, console: Console) -> None:
    """A line a type of query."""
    table = _table("type", "cases", "share", "aim", "missing")
    for one in found["parts"]:
        shares = (_percent(one["share"]), _percent(one["aim"]))
        table.add_row(one["query_type"], str(one["cases"]), *shares, str(one["missing"]))
    console.print(table)
    _print(
        console,
        f"{found['cases']} signed cases (at least {found['floor']}, {found['enough']} are enough); "
        f"{_percent(found['from_production'])} of them broke in production, of 50 %",
    )


def _wrong(found: Found, console: Console) -> None:
    if found["problem"]:
        _print(console, f"the set cannot be read or signed into: {found['problem']}")
    for one in found["broken"]:
        where = f"line {one['line']}: " if one["line"] else ""
        _print(console, f"broken: {where}{one['case_id']} {one['why']}")


def _stands(one: Found) -> str:
    by = f" by {one['approved_by']}" if one["approved_by"] else ""
    return f"{one['state']}{by}, revision {one['revision']}"


def _lines(found: Found) -> Iterator[str]:
    yield f"question      {found['question']}"
    if found["gold_answer"]:
        yield f"answer        {found['gold_answer']}"
    for fact in found["expected_facts"]:
        yield f"{fact['importance']:<5} fact    {fact['fact']}"
    for name in ("gold_chunk_ids", "gold_texts", "tags", "edited_by"):
        if found[name]:
            yield f"{name:<13} {', '.join(found[name])}"
    for name in ("query_type", "failure_mode", "service", "route", "trace_id", "issue_id",
                 "proposed_by", "content_hash"):  # fmt: skip
        if found[name]:
            yield f"{name:<13} {found[name]}"


def _step(one: Found) -> str:
    who = f" by {one['actor']}" if one["actor"] else ""
    return f"{_minute(one['time'])}  {one['verb']}{who}, revision {one['revision']}  {one['text']}"


def _outcome(run: Found) -> str:
    return f"{OUTCOMES[run['is_pass']]} ({run['against']}): {run['why']}"


def _listed(console: Console, title: str, some: Sequence[str]) -> None:
    if some:
        _print(console, f"\n{title}", style="bold")
    for one in some:
        _print(console, f"  {one}")


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"
