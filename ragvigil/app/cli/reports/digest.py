"""`ragvigil digest`: what a person should read, decide and renew this week; also as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from ragvigil.app.cli.input import triage
from ragvigil.app.cli.input.options import Config, Json, asks_daemon

if TYPE_CHECKING:
    from rich.console import Console

    from ragvigil.app.cli.output.console import JsonObject

Plain = Callable[[str], str]
Sections = Iterator[tuple[str, list[str]]]
"""Headings, each with its lines."""
MOST_CHARACTERS = 160


@asks_daemon
def digest(
    config: Config = None,
    service: Annotated[str | None, typer.Option(help="This service only.")] = None,
    since: Annotated[str, typer.Option(help="ISO 8601, or how long ago: 6h, 7d.")] = "7d",
    markdown: Annotated[bool, typer.Option("--markdown", help="Markdown instead of text.")] = False,
    json: Json = False,
) -> None:
    """The week: failures to read, uncovered topics, proposals, age of the set, judge trust."""
    from ragvigil.app.cli.output.console import prints

    reply = triage.fetch(config, "digest", service=service, since=since)
    prints(_show_markdown if markdown else _show)(reply, as_json=json)


def _show(reply: JsonObject, console: Console) -> None:
    from ragvigil.app.cli.output.console import print_line

    print_line(console, _title(reply), style="bold")
    for heading, lines in _sections(reply, str):
        print_line(console, f"\n{heading}", style="bold")
        for line in lines:
            print_line(console, f"  {line}")


def _show_markdown(reply: JsonObject, console: Console) -> None:
    from ragvigil.model.wording.markdown import plain

    console.print(f"# {_title(reply)}")
    for heading, lines in _sections(reply, plain):
        console.print(f"\n## {heading}\n")
        for line in lines:
            console.print(f"- {line}")


def _title(reply: JsonObject) -> str:
    return f"RAG quality, {reply['since'][:10]} to {reply['until'][:10]}"


def _sections(reply: JsonObject, plain: Plain) -> Sections:
    """The digest in words; texts of others go through `plain`."""
    from ragvigil.model import figures

    failures = [_failure(row, plain) for row in reply["failures"]]
    number = figures.sentence(figures.spelled(len(failures)))
    yield f"{number} failure{'s' * (len(failures) != 1)} to read", failures
    gaps = [_gap(row, plain) for row in reply["uncovered"]]
    yield "Topics without a golden case", gaps or ["none"]
    yield (
        f"Proposals that wait for a person: {figures.count(reply['waiting'])}",
        [_proposal(row, plain) for row in reply["proposals"]],
    )
    yield "Golden set", [_age(reply["golden"])]
    yield "Judges", [_trust(row, plain) for row in reply["judges"]] or ["no judge"]


def _failure(row: JsonObject, plain: Plain) -> str:
    from ragvigil.app.cli.output.console import place_of
    from ragvigil.model import figures

    question = plain(row["question"][:MOST_CHARACTERS]) or "(question not in the spans)"
    cause = row["issue"] or " ".join(part for part in (row["rubric"], row["label"]) if part)
    count = figures.counted(row["failing"], "answer")
    place = plain(f"{place_of(row)} {row['route']}")
    reason = plain(row["reason"][:MOST_CHARACTERS])
    return f"{place}: {question}: {reason} ({plain(cause)}, {count}), trace {row['trace_id']}"


def _gap(row: JsonObject, plain: Plain) -> str:
    from ragvigil.model import figures

    asked, failing = figures.share(row["share"]), figures.share(row["failing"])
    example = plain(row["example"][:MOST_CHARACTERS])
    return f"{plain(row['name'])}: {asked} of questions, {failing} of them fail, such as: {example}"


def _proposal(row: JsonObject, plain: Plain) -> str:
    question = plain(row["question"][:MOST_CHARACTERS])
    by = f" by {plain(row['proposed_by'])}" if row["proposed_by"] else ""
    return f"{question}, proposed {(row['proposed'] or '')[:10]}{by}: {row['case_id']}"


def _age(golden: JsonObject) -> str:
    from ragvigil.model import figures

    if not golden["newest"]:
        return "no signed case" if not golden["cases"] else f"{golden['cases']:,} signed cases"
    cases = figures.counted(golden["cases"], "signed case")
    return (
        f"{cases}, the last signed {golden['newest'][:10]}, the first {golden['oldest'][:10]}, "
        f"half of them older than {golden['median_days']:.0f} days"
    )


def _trust(row: JsonObject, plain: Plain) -> str:
    from ragvigil.model import figures

    name = plain(f"{row['rubric']} by {row['judge']}")
    if row["kappa"] is None:
        return f"{name}: {row['state']}, {figures.counted(row['missing'], 'label')} missing"
    between = f"{figures.score(row['low'])} to {figures.score(row['high'])}"
    return f"{name}: {row['state']}, kappa {figures.score(row['kappa'])} ({between})"
