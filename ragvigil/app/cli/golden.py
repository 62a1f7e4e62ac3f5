"""`ragvigil golden`: questions whose right answers people have signed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ragvigil.app.cli.incidents import _login, _quoted
from ragvigil.app.cli.options import Config, Json

golden = typer.Typer(
    help="Questions whose right answers people have signed, one commit each.", no_args_is_help=True
)

Id = Annotated[str, typer.Argument(help="The case's id, as `golden list` shows it.")]
Actor = Annotated[str, typer.Option(help="Who says it; default your login name.")]
Type = Annotated[str | None, typer.Option("--type", help="canonical, adversarial or failure.")]
Question = Annotated[str | None, typer.Option(help="What is asked.")]
GoldAnswer = Annotated[str | None, typer.Option(help="A good answer.")]
Facts = Annotated[list[str] | None, typer.Option(help="What an answer must state; again for more.")]
OkayFacts = Annotated[
    list[str] | None, typer.Option(help="What it may state. Facts replace all the old ones.")
]
Chunks = Annotated[list[str] | None, typer.Option(help="Id of a chunk that bears the answer.")]
ChunkTexts = Annotated[list[str] | None, typer.Option(help="The text of such a chunk.")]
Tags = Annotated[list[str] | None, typer.Option(help="easy, edge, multi-hop, ... or your own.")]
FailureMode = Annotated[
    str | None, typer.Option(help="no_answer: the corpus has none; or what goes wrong.")
]
Words = Annotated[str, typer.Option("--text", "-m", help="Why, in words.")]


@golden.command("list")
def list_(
    config: Config = None,
    state: Annotated[
        str | None, typer.Option(help="proposed, signed, passing or rejected.")
    ] = None,
    service: Annotated[str | None, typer.Option(help="This service only.")] = None,
    query_type: Type = None,
    issue: Annotated[str | None, typer.Option(help="Cases of this issue only.")] = None,
    json: Json = False,
) -> None:
    """Cases, those changed last first, and what is broken in the set's file."""
    from ragvigil.app.cli.output import golden as show_golden

    asked = {"state": state, "service": service, "query_type": query_type, "issue": issue}
    show_golden.cases(_get(config, "golden", **asked), as_json=json)


@golden.command("show")
def show(case: Id, config: Config = None, json: Json = False) -> None:
    """One case: its duplicates and leaks, everything that was done, and its runs."""
    from ragvigil.app.cli.output import golden as show_golden

    show_golden.case(_get(config, f"golden/{_quoted(case)}"), as_json=json)


@golden.command("propose")
def propose(
    config: Config = None,
    trace: Annotated[str, typer.Option(help="Id of a trace that the daemon stored.")] = "",
    record: Annotated[str, typer.Option(help="Its record, where it has several.")] = "",
    issue: Annotated[
        str, typer.Option(help="The issue that it stands for; alone: its representatives.")
    ] = "",
    actor: Actor = "",
    json: Json = False,
) -> None:
    """Makes a failing record a case, for people to complete and sign."""
    from ragvigil.app.cli.api_client import Refused
    from ragvigil.app.cli.output import golden as show_golden

    if not trace and not issue:
        raise typer.BadParameter("one of --trace and --issue is needed")
    refused = False
    for one, own in [(trace, record)] if trace else _representatives(config, issue):
        body = {"trace_id": one, "record_id": own, "issue_id": issue, "actor": actor or _login()}
        try:
            show_golden.acted(_post(config, "golden", body), as_json=json)
        except Refused as error:  # of several representatives the others are proposed all the same
            print(f"{one}: {error}", file=sys.stderr)
            refused = True
    sys.exit(int(refused))


@golden.command("edit")
def edit(
    case: Id,
    config: Config = None,
    question: Question = None,
    answer: GoldAnswer = None,
    fact: Facts = None,
    okay_fact: OkayFacts = None,
    chunk: Chunks = None,
    chunk_text: ChunkTexts = None,
    tag: Tags = None,
    query_type: Type = None,
    failure_mode: FailureMode = None,
    revision: Annotated[int | None, typer.Option(help="Only if it still is this one.")] = None,
    actor: Actor = "",
    json: Json = False,
) -> None:
    """Changes what is given; a signed case becomes a proposal again."""
    from ragvigil.app.cli.output import golden as show_golden

    given: dict[str, Any] = {
        "actor": actor or _login(),
        "question": question,
        "gold_answer": answer,
        "expected_facts": _facts(fact or (), okay_fact or ()),
        "gold_chunk_ids": chunk,
        "gold_texts": chunk_text,
        "tags": tag,
        "query_type": query_type,
        "failure_mode": failure_mode,
        "revision": revision,
    }
    body = {key: value for key, value in given.items() if value is not None}
    show_golden.acted(_post(config, f"golden/{_quoted(case)}/edit", body), as_json=json)


@golden.command("sign")
def sign(
    case: Id,
    config: Config = None,
    actor: Actor = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask, show and sign.")] = False,
    despite_warnings: Annotated[
        bool, typer.Option("--despite-warnings", help="With --yes: also where it warns.")
    ] = False,
    json: Json = False,
) -> None:
    """Shows a case with its duplicates and leaks; approved, it is committed and run."""
    from ragvigil.app.cli.output import golden as show_golden

    path = f"golden/{_quoted(case)}"
    seen = _get(config, path)
    if not json:
        show_golden.case(seen, as_json=False)
    if not (yes or json):
        typer.confirm("Sign it as it stands here?", abort=True)
        despite_warnings = True
    body = {
        "actor": actor or _login(),
        "content_hash": seen["content_hash"],
        "despite_warnings": despite_warnings,
    }
    show_golden.signed(_post(config, f"{path}/sign", body, role="approver"), as_json=json)


@golden.command("reject")
def reject(
    case: Id, config: Config = None, actor: Actor = "", text: Words = "", json: Json = False
) -> None:
    """Declines a proposal; where it would change a signed case, that one stands."""
    from ragvigil.app.cli.output import golden as show_golden

    body = {"actor": actor or _login(), "text": text}
    show_golden.acted(_post(config, f"golden/{_quoted(case)}/reject", body), as_json=json)


@golden.command("run")
def run(case: Id, config: Config = None, json: Json = False) -> None:
    """Runs a case now, against the service or its stored trace."""
    from ragvigil.app.cli.output import golden as show_golden

    show_golden.ran(_post(config, f"golden/{_quoted(case)}/run", {}), as_json=json)


@golden.command("mix")
def mix(config: Config = None, json: Json = False) -> None:
    """What the signed cases are, against 40 % canonical, 30 % adversarial, 30 % failure."""
    from ragvigil.app.cli.output import golden as show_golden

    show_golden.mix(_get(config, "golden-set")["mix"], as_json=json)


@golden.command("import")
def import_(
    file: Annotated[
        Path, typer.Argument(help="JSON lines, or .csv with query, expected_answer; - is JSONL.")
    ],
    config: Config = None,
    actor: Actor = "",
    json: Json = False,
) -> None:
    """Proposes every case of a file; lines that are wrong are named and left out, and exit 1."""
    from ragvigil.app.cli.golden_file import import_cases
    from ragvigil.app.settings import load

    sys.exit(import_cases(file, load(config), actor or _login(), as_json=json))


@golden.command("export")
def export(
    config: Config = None,
    form: Annotated[str, typer.Option("--format", help="jsonl or csv.")] = "jsonl",
) -> None:
    """Prints the signed cases: JSON lines, or CSV in open-rag-eval's layout."""
    from ragvigil.app.cli.golden_file import export_cases

    if form not in ("jsonl", "csv"):
        raise typer.BadParameter(f"--format {form} is not jsonl or csv")
    sys.exit(export_cases(_get(config, "golden-set"), form))


@golden.command("check")
def check(
    file: Annotated[
        Path | None, typer.Argument(help="The set's file; default that of the settings.")
    ] = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Tells which lines of the set nobody signed as they are, and exits 1. Needs no daemon."""
    from ragvigil.app.cli.golden_file import check_file
    from ragvigil.app.settings import load

    sys.exit(check_file(file, load(config).golden, as_json=json))


def _facts(vital: Sequence[str], okay: Sequence[str]) -> list[dict[str, str]] | None:
    facts = [{"fact": one} for one in vital]
    return [*facts, *({"fact": one, "importance": "okay"} for one in okay)] or None


def _representatives(config: Path | None, issue: str) -> list[tuple[str, str]]:
    found = _get(config, f"issues/{_quoted(issue)}")["representatives"]
    return [(one["trace_id"], one["record_id"]) for one in found]


def _get(config: Path | None, path: str, **asked: Any) -> Any:
    from ragvigil.app.cli import api_client
    from ragvigil.app.settings import load

    return api_client.get(load(config), path, **asked)


def _post(config: Path | None, path: str, body: object, *, role: str = "triager") -> Any:
    from ragvigil.app.cli import api_client
    from ragvigil.app.settings import load

    return api_client.post(load(config), path, body, role=role)
