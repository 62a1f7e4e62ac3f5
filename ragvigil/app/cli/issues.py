"""`ragvigil issues`: named causes of failing records, and what a person says of them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from ragvigil.app.cli.incidents import Actor, Words, _end, _login, _quoted
from ragvigil.app.cli.options import Config, Json

issues = typer.Typer(
    help="Named causes of failing records: what fails alike, how often, since when.",
    no_args_is_help=True,
)

EXPLAIN_SECONDS = 900.0
"""A model reads traces for minutes."""

Id = Annotated[str, typer.Argument(help="The issue's id, as `issues list` shows it.")]


@issues.command("list")
def list_(
    config: Config = None,
    state: Annotated[
        str | None,
        typer.Option(
            help="new, ongoing, escalating, acknowledged, resolved, regressed, ignored or stale."
        ),
    ] = None,
    service: Annotated[str | None, typer.Option(help="This service only.")] = None,
    route: Annotated[str | None, typer.Option(help="Those that this route has.")] = None,
    family: Annotated[
        str | None, typer.Option(help="retrieval, generation or cross_cutting.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", "-q", help="Those with this in their name.")
    ] = None,
    limit: Annotated[int, typer.Option(help="At most so many.")] = 100,
    json: Json = False,
) -> None:
    """Issues, what needs somebody first; then how many failures are in none."""
    from ragvigil.app.cli import api_client
    from ragvigil.app.cli.output import issues as show_issues
    from ragvigil.app.settings import load

    asked = {"state": state, "service": service, "route": route, "family": family, "q": name}
    found = api_client.get(load(config), "issues", **asked, limit=limit)
    show_issues.issues(found, as_json=json)


@issues.command("show")
def show(issue: Id, config: Config = None, json: Json = False) -> None:
    """One issue: how many, where, of which versions, why, examples, what was done."""
    from ragvigil.app.cli import api_client
    from ragvigil.app.cli.output import issues as show_issues
    from ragvigil.app.settings import load

    found = api_client.get(load(config), f"issues/{_quoted(issue)}")
    show_issues.issue(found, as_json=json)


@issues.command("pairs")
def pairs(config: Config = None, json: Json = False) -> None:
    """Issues that look alike: `issues merge` confirms, `issues unmerge` keeps them apart."""
    from ragvigil.app.cli import api_client
    from ragvigil.app.cli.output import issues as show_issues
    from ragvigil.app.settings import load

    show_issues.pairs(api_client.get(load(config), "issue-pairs"), as_json=json)


@issues.command("ack")
def ack(
    issue: Id, config: Config = None, actor: Actor = "", text: Words = "", json: Json = False
) -> None:
    """Somebody owns it."""
    _act(issue, "acknowledge", config, actor, text, as_json=json)


@issues.command("resolve")
def resolve(
    issue: Id,
    config: Config = None,
    release: Annotated[
        str, typer.Option("--in", help="The release or index version that mends it; default now.")
    ] = "",
    actor: Actor = "",
    text: Words = "",
    json: Json = False,
) -> None:
    """It is mended; members of a later release make it regressed."""
    _act(issue, "resolve", config, actor, text, release=release, as_json=json)


@issues.command("ignore")
def ignore(
    issue: Id,
    config: Config = None,
    for_: Annotated[str, typer.Option("--for", help="How long: 30m, 4h, 2d.")] = "",
    count: Annotated[int, typer.Option(min=0, help="Until so many more members came.")] = 0,
    forever: Annotated[bool, typer.Option("--forever", help="Without an end.")] = False,
    actor: Actor = "",
    text: Words = "",
    json: Json = False,
) -> None:
    """Nobody is told of it for a time, for a count of members, or for ever."""
    if bool(for_ or count) == forever:
        raise typer.BadParameter("--for or --count is needed, or else --forever")
    until = _end("", for_, datetime.now(UTC)).isoformat() if for_ else None
    said = {"until": until, "count": count, "for_ever": forever}
    _act(issue, "ignore", config, actor, text, **said, as_json=json)


@issues.command("reopen")
def reopen(
    issue: Id, config: Config = None, actor: Actor = "", text: Words = "", json: Json = False
) -> None:
    """It is not mended, not to be ignored, or nobody's any more."""
    _act(issue, "reopen", config, actor, text, as_json=json)


@issues.command("assign")
def assign(
    issue: Id,
    to: Annotated[str, typer.Argument(help="Who; empty is nobody.")],
    config: Config = None,
    actor: Actor = "",
    text: Words = "",
    json: Json = False,
) -> None:
    """It is somebody's; its state stays."""
    _act(issue, "assign", config, actor, text, name=to, as_json=json)


@issues.command("rename")
def rename(
    issue: Id,
    name: Annotated[str, typer.Argument(help="What it is called from now on.")],
    config: Config = None,
    actor: Actor = "",
    text: Words = "",
    json: Json = False,
) -> None:
    """A name that the daemon never changes again."""
    _act(issue, "rename", config, actor, text, name=name, as_json=json)


@issues.command("merge")
def merge(
    issue: Id,
    other: Annotated[str, typer.Argument(help="The issue that is the same.")],
    config: Config = None,
    actor: Actor = "",
    text: Words = "",
    json: Json = False,
) -> None:
    """Both are one: the older id stays, and the other leads to it."""
    _act(issue, "merge", config, actor, text, other=other, as_json=json)


@issues.command("unmerge")
def unmerge(
    issue: Id,
    other: Annotated[
        str, typer.Argument(help="The other issue of a proposed pair, which is no merge yet.")
    ] = "",
    config: Config = None,
    actor: Actor = "",
    text: Words = "",
    json: Json = False,
) -> None:
    """They are not one: a merged issue gets its members back, and the two stay apart."""
    _act(issue, "unmerge", config, actor, text, other=other, as_json=json)


@issues.command("explain")
def explain(issue: Id, config: Config = None, actor: Actor = "", json: Json = False) -> None:
    """Looks for the root cause now; with a judge this takes minutes."""
    from ragvigil.app.cli import api_client
    from ragvigil.app.cli.output import issues as show_issues
    from ragvigil.app.settings import load

    path, body = f"issues/{_quoted(issue)}/explain", {"actor": actor or _login()}
    found = api_client.post(
        load(config), path, body, role="triager", patience_seconds=EXPLAIN_SECONDS
    )
    show_issues.root_cause(found, as_json=json)


def _act(
    issue: str,
    verb: str,
    config: Path | None,
    actor: str,
    text: str,
    *,
    as_json: bool,
    **said: Any,
) -> None:
    from ragvigil.app.cli import api_client
    from ragvigil.app.cli.output import issues as show_issues
    from ragvigil.app.settings import load

    body = {"actor": actor or _login(), "text": text, **said}
    found = api_client.post(load(config), f"issues/{_quoted(issue)}/{verb}", body, role="triager")
    show_issues.acted(found, as_json=as_json)
