"""`ragvigil issues`: named causes of failing answers, and what people do about them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from ragvigil.app.cli.input import triage
from ragvigil.app.cli.input.options import Config, Json, asks_daemon, words
from ragvigil.app.cli.input.triage import Words
from ragvigil.model.issue import IssueState
from ragvigil.model.score import Layer

issues = typer.Typer(
    help="Named causes of failing answers, since when, how often.",
    no_args_is_help=True,
)

EXPLAIN_SECONDS = 900.0
"""How long to wait for a root cause: a model reads traces for minutes."""

Id = Annotated[str, typer.Argument(help="The issue's id, or the beginning of it.")]


@issues.command("list")
@asks_daemon
def list_(
    config: Config = None,
    state: Annotated[
        str | None,
        typer.Option(
            help="new, ongoing, escalating, acknowledged, resolved, regressed, ignored or stale.",
            autocompletion=words(*(state.value for state in IssueState)),
        ),
    ] = None,
    service: Annotated[str | None, typer.Option(help="This service only.")] = None,
    route: Annotated[str | None, typer.Option(help="Issues with answers on this route.")] = None,
    family: Annotated[
        str | None,
        typer.Option(
            help="retrieval, generation or cross_cutting.",
            autocompletion=words(*(layer.value for layer in Layer)),
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", "-q", help="Issues with this in their name.")
    ] = None,
    limit: Annotated[int, typer.Option(help="At most this many.")] = 100,
    json: Json = False,
) -> None:
    """Issues, the most urgent first; then how many failing answers are in no issue."""
    from ragvigil.app.cli.output.issues import print_issues

    filters = {"state": state, "service": service, "route": route, "family": family, "q": name}
    print_issues(triage.fetch(config, "issues", **filters, limit=limit), as_json=json)


@issues.command("show")
@asks_daemon
def show(issue: Id, config: Config = None, json: Json = False) -> None:
    """One issue: how many answers, where, in which versions, why, examples, what was done."""
    from ragvigil.app.cli.output.issues import print_issue

    path = triage.path_to(config, "issues", issue)
    print_issue(triage.fetch(config, path), as_json=json)


@issues.command("pairs")
@asks_daemon
def pairs(config: Config = None, json: Json = False) -> None:
    """Issues that look alike: `issues merge` confirms, `issues unmerge` keeps them apart."""
    from ragvigil.app.cli.output.issues import print_pairs

    print_pairs(triage.fetch(config, "issue-pairs"), as_json=json)


@issues.command("ack")
@asks_daemon
def ack(issue: Id, config: Config = None, text: Words = "", json: Json = False) -> None:
    """Somebody works on it."""
    _act(issue, "acknowledge", config, text, as_json=json)


@issues.command("resolve")
@asks_daemon
def resolve(
    issue: Id,
    config: Config = None,
    release: Annotated[
        str, typer.Option("--in", help="The release or index version that mends it; default now.")
    ] = "",
    text: Words = "",
    json: Json = False,
) -> None:
    """It is mended; failing answers of a later release make it regressed."""
    _act(issue, "resolve", config, text, release=release, as_json=json)


@issues.command("ignore")
@asks_daemon
def ignore(
    issue: Id,
    config: Config = None,
    for_: Annotated[str, typer.Option("--for", help="How long: 30m, 4h, 2d.")] = "",
    count: Annotated[int, typer.Option(min=0, help="Until this many more answers fail.")] = 0,
    forever: Annotated[bool, typer.Option("--forever", help="Without an end.")] = False,
    text: Words = "",
    json: Json = False,
) -> None:
    """Silences it for a time, for a count of failing answers, or for ever."""
    if bool(for_ or count) == forever:
        raise typer.BadParameter("--for or --count is needed, or else --forever")
    until = triage.end_of("", for_, datetime.now(UTC)).isoformat() if for_ else None
    bounds = {"until": until, "count": count, "for_ever": forever}
    _act(issue, "ignore", config, text, **bounds, as_json=json)


@issues.command("reopen")
@asks_daemon
def reopen(issue: Id, config: Config = None, text: Words = "", json: Json = False) -> None:
    """Undoes `resolve`, `ignore` and `ack`."""
    _act(issue, "reopen", config, text, as_json=json)


@issues.command("assign")
@asks_daemon
def assign(
    issue: Id,
    to: Annotated[str, typer.Argument(help="Who works on it; empty for nobody.")],
    config: Config = None,
    text: Words = "",
    json: Json = False,
) -> None:
    """Names who works on it; its state stays."""
    _act(issue, "assign", config, text, name=to, as_json=json)


@issues.command("rename")
@asks_daemon
def rename(
    issue: Id,
    name: Annotated[str, typer.Argument(help="The new name.")],
    config: Config = None,
    text: Words = "",
    json: Json = False,
) -> None:
    """Gives it a name that the daemon does not change again."""
    _act(issue, "rename", config, text, name=name, as_json=json)


@issues.command("merge")
@asks_daemon
def merge(
    issue: Id,
    other: Annotated[str, typer.Argument(help="The issue with the same cause.")],
    config: Config = None,
    text: Words = "",
    json: Json = False,
) -> None:
    """Makes two issues one: the older id stays, and the other leads to it."""
    other = triage.whole_id(config, "issues", other)
    _act(issue, "merge", config, text, other=other, as_json=json)


@issues.command("unmerge")
@asks_daemon
def unmerge(
    issue: Id,
    other: Annotated[
        str,
        typer.Argument(help="The other issue of a proposed pair: they are never proposed again."),
    ] = "",
    config: Config = None,
    text: Words = "",
    json: Json = False,
) -> None:
    """Splits a merged issue again, and keeps the two apart from then on."""
    other = triage.whole_id(config, "issues", other) if other else ""
    _act(issue, "unmerge", config, text, other=other, as_json=json)


@issues.command("explain")
@asks_daemon
def explain(issue: Id, config: Config = None, json: Json = False) -> None:
    """Looks for the root cause now; with a judge this takes minutes."""
    from ragvigil.app.cli.output.issues import print_root_cause

    path = triage.path_to(config, "issues", issue, "explain")
    body: dict[str, str] = {}
    report = triage.send(config, path, body, timeout_seconds=EXPLAIN_SECONDS)
    print_root_cause(report, as_json=json)


@issues.command("background")
@asks_daemon
def background(
    config: Config = None,
    group: Annotated[
        bool, typer.Option("--group", help="Cluster them now; keeps nothing.")
    ] = False,
    json: Json = False,
) -> None:
    """What fails outside of issues, by kind, with its rate; it makes no ticket."""
    from ragvigil.app.cli.output.issues import print_background, print_groups

    if group:
        path = "issue-background/group"
        reply = triage.send(config, path, {}, timeout_seconds=EXPLAIN_SECONDS)
        print_groups(reply, as_json=json)
    else:
        print_background(triage.fetch(config, "issue-background"), as_json=json)


@issues.command("guard")
@asks_daemon
def guard(
    issue: Id,
    config: Config = None,
    how: Annotated[
        str,
        typer.Option(
            help="any, pattern or judge; any: a pattern where one separates, else a rubric.",
            autocompletion=words("any", "pattern", "judge"),
        ),
    ] = "any",
    yes: Annotated[bool, typer.Option("--yes", help="Accept it without asking.")] = False,
    json: Json = False,
) -> None:
    """Drafts a check that fails the issue's answers, shows what it catches, and asks for a yes."""
    from ragvigil.app.cli.output.rubrics import print_accepted, print_guard

    path = triage.path_to(config, "issues", issue, "guard")
    draft = triage.send(config, path, {"how": how}, timeout_seconds=EXPLAIN_SECONDS)
    if not (json and yes):
        print_guard(draft, as_json=json)
    if yes or (not json and triage.is_meant(f"Accept {draft['name']}?")):
        accepted = triage.accept_rubric(
            config, draft["text"], sentence=draft["check"], issue_id=draft["issue_id"]
        )
        print_accepted(accepted, as_json=json)


@issues.command("guards")
@asks_daemon
def guards(config: Config = None, json: Json = False) -> None:
    """The accepted guards, and other accepted rubrics: `rubric remove` takes one out."""
    from ragvigil.app.cli.output.rubrics import print_rubrics

    print_rubrics(triage.fetch(config, "rubrics"), as_json=json)


def _act(
    issue: str,
    verb: str,
    config: Path | None,
    text: str,
    *,
    as_json: bool,
    **values: Any,
) -> None:
    from ragvigil.app.cli.output.issues import print_state

    path = triage.path_to(config, "issues", issue, verb)
    print_state(triage.act(config, path, text, **values), as_json=as_json)
