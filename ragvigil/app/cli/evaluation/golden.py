"""`ragvigil golden`: questions whose right answers people have signed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ragvigil.app.cli.input import triage
from ragvigil.app.cli.input.options import Config, Json, asks_daemon, reads_settings, words
from ragvigil.app.cli.input.triage import Words
from ragvigil.app.client.paths import path_of

golden = typer.Typer(
    help="Golden cases: questions with signed right answers.", no_args_is_help=True
)

Id = Annotated[str, typer.Argument(help="The case's id, as `golden list` shows it.")]
Type = Annotated[
    str | None,
    typer.Option(
        "--type",
        help="canonical, adversarial or failure.",
        autocompletion=words("canonical", "adversarial", "failure"),
    ),
]
Question = Annotated[str | None, typer.Option(help="What is asked.")]
GoldAnswer = Annotated[str | None, typer.Option(help="A good answer.")]
Facts = Annotated[list[str] | None, typer.Option(help="What an answer must state; again for more.")]
OkayFacts = Annotated[
    list[str] | None, typer.Option(help="What it may state. New facts replace all the old ones.")
]
Chunks = Annotated[list[str] | None, typer.Option(help="Id of a chunk with the answer in it.")]
ChunkTexts = Annotated[list[str] | None, typer.Option(help="The text of such a chunk.")]
Tags = Annotated[list[str] | None, typer.Option(help="easy, edge, multi-hop, ... or your own.")]
FailureMode = Annotated[
    str | None, typer.Option(help="no_answer: the corpus has none; or what goes wrong.")
]


def _kinds(incomplete: str) -> list[str]:
    from ragvigil.app.cli.input.options import matching
    from ragvigil.evaluation.perturb.perturb_set import KINDS

    return matching(list(KINDS), incomplete)


@golden.command("list")
@asks_daemon
def list_(
    config: Config = None,
    state: Annotated[
        str | None,
        typer.Option(
            help="proposed, signed, passing or rejected.",
            autocompletion=words("proposed", "signed", "passing", "rejected"),
        ),
    ] = None,
    service: Annotated[str | None, typer.Option(help="This service only.")] = None,
    query_type: Type = None,
    issue: Annotated[str | None, typer.Option(help="Cases of this issue only.")] = None,
    json: Json = False,
) -> None:
    """Golden cases, the last changed first, and what is broken in the set's file."""
    from ragvigil.app.cli.output.golden import print_cases

    filters = {"state": state, "service": service, "query_type": query_type, "issue": issue}
    print_cases(triage.fetch(config, "golden", **filters), as_json=json)


@golden.command("show")
@asks_daemon
def show(case: Id, config: Config = None, json: Json = False) -> None:
    """One case: near-duplicates, leaks into the prompt, what was done, and its runs."""
    from ragvigil.app.cli.output.golden import print_case

    print_case(triage.fetch(config, path_of("golden", case)), as_json=json)


@golden.command("propose")
@asks_daemon
def propose(
    config: Config = None,
    trace: Annotated[str, typer.Option(help="Id of a trace that the daemon stored.")] = "",
    record: Annotated[str, typer.Option(help="Its record, where the trace has several.")] = "",
    issue: Annotated[
        str, typer.Option(help="The issue that the case stands for; without --trace: its examples.")
    ] = "",
    json: Json = False,
) -> None:
    """Makes a failing answer a golden case, for people to complete and sign."""
    from ragvigil.app.cli.output.console import print_text
    from ragvigil.app.cli.output.golden import print_state
    from ragvigil.app.client.api import Refused

    if not trace and not issue:
        raise typer.BadParameter("one of --trace and --issue is needed")
    is_refused = False
    for trace_id, record_id in [(trace, record)] if trace else _representatives(config, issue):
        body = {"trace_id": trace_id, "record_id": record_id, "issue_id": issue}
        try:
            print_state(triage.send(config, "golden", body), as_json=json)
        except Refused as error:  # the other representatives are proposed all the same
            print_text(f"{trace_id}: {error}", to=sys.stderr)
            is_refused = True
    sys.exit(int(is_refused))


@golden.command("edit")
@asks_daemon
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
    revision: Annotated[
        int | None, typer.Option(help="Refuse where the case has another revision by now.")
    ] = None,
    json: Json = False,
) -> None:
    """Changes the values given; a signed case becomes a proposal again."""
    from ragvigil.app.cli.output.golden import print_state

    values = {
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
    body = {key: value for key, value in values.items() if value is not None}
    print_state(triage.send(config, path_of("golden", case, "edit"), body), as_json=json)


@golden.command("sign")
@asks_daemon
def sign(
    case: Id,
    config: Config = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask, show and sign.")] = False,
    despite_warnings: Annotated[
        bool, typer.Option("--despite-warnings", help="With --yes: also where it warns.")
    ] = False,
    json: Json = False,
) -> None:
    """Shows a case with its warnings; once you approve it, it is committed and run."""
    from ragvigil.app.cli.output.golden import print_case, print_signed

    path = path_of("golden", case)
    shown = triage.fetch(config, path)
    if not json:
        print_case(shown, as_json=False)
    if not (yes or json):
        typer.confirm("Sign it as it stands here?", abort=True)
        despite_warnings = True
    body = {
        "content_hash": shown["content_hash"],  # a case changed since then is refused
        "despite_warnings": despite_warnings,
    }
    print_signed(triage.send(config, f"{path}/sign", body, role="approver"), as_json=json)


@golden.command("reject")
@asks_daemon
def reject(case: Id, config: Config = None, text: Words = "", json: Json = False) -> None:
    """Declines a proposal; the signed case that it would have changed stays as it is."""
    from ragvigil.app.cli.output.golden import print_state

    path = path_of("golden", case, "reject")
    print_state(triage.act(config, path, text), as_json=json)


@golden.command("run")
@asks_daemon
def run(case: Id, config: Config = None, json: Json = False) -> None:
    """Runs a case now, against the service or its stored trace."""
    from ragvigil.app.cli.output.golden import print_run

    print_run(triage.send(config, path_of("golden", case, "run"), {}), as_json=json)


@golden.command("mix")
@asks_daemon
def mix(config: Config = None, json: Json = False) -> None:
    """What the signed cases are, against 40 % canonical, 30 % adversarial, 30 % failure."""
    from ragvigil.app.cli.output.golden import print_mix

    print_mix(triage.fetch(config, "golden-set")["mix"], as_json=json)


@golden.command("import")
@asks_daemon
def import_(
    file: Annotated[
        Path, typer.Argument(help="JSON lines, or .csv with query, expected_answer; - is JSONL.")
    ],
    config: Config = None,
    json: Json = False,
) -> None:
    """Proposes every case of a file. Names wrong lines, leaves them out, and exits 1."""
    from ragvigil.app.cli.evaluation.golden_file import import_cases

    sys.exit(import_cases(file, triage.settings_of(config), as_json=json))


@golden.command("export")
@asks_daemon
def export(
    config: Config = None,
    form: Annotated[
        str, typer.Option("--format", help="jsonl or csv.", autocompletion=words("jsonl", "csv"))
    ] = "jsonl",
) -> None:
    """Prints the signed cases: JSON lines, or CSV in open-rag-eval's layout."""
    from ragvigil.app.cli.evaluation.golden_file import export_cases

    if form not in ("jsonl", "csv"):
        raise typer.BadParameter(f"--format {form} is not jsonl or csv")
    sys.exit(export_cases(triage.fetch(config, "golden-set"), form))


@golden.command("check")
@reads_settings
def check(
    file: Annotated[
        Path | None, typer.Argument(help="The set's file; default that of the settings.")
    ] = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Names the lines of the set that differ from what was signed; exits 1. Needs no daemon."""
    from ragvigil.app.cli.evaluation.golden_file import check_file
    from ragvigil.app.settings import load

    sys.exit(check_file(file, load(config).golden, as_json=json))


@golden.command("perturb")
def perturb(
    file: Annotated[Path, typer.Argument(help="The set's file, JSON lines.")],
    out: Annotated[
        Path | None, typer.Option(help="File for the new cases; default standard output.")
    ] = None,
    corpus: Annotated[
        list[Path] | None,
        typer.Option(help="JSON lines with id and text: further chunks; again for more files."),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(help="Only this kind, as injection; again for more.", autocompletion=_kinds),
    ] = None,
    seed: Annotated[int, typer.Option(help="Another seed makes other changes.")] = 0,
) -> None:
    """Makes cases with changed contexts, and what must then hold; counts what was not possible."""
    from ragvigil.app.cli.evaluation.golden_perturb import perturb_file
    from ragvigil.evaluation.perturb.perturb_set import KINDS

    for name in kind or ():
        if name not in KINDS:
            raise typer.BadParameter(f"--kind {name} is not one of {', '.join(KINDS)}")
    if out is not None and out.exists() and out.samefile(file):
        raise typer.BadParameter(f"--out {out} is the set itself")
    sys.exit(perturb_file(file, out, corpus or (), kind or list(KINDS), seed=seed))


@golden.command("draft")
@asks_daemon
def draft(
    config: Config = None,
    corpus: Annotated[
        Path | None,
        typer.Option(help="Folder of documents that the judge asks about; default live questions."),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(help="single_hop, multi_hop, comparison, unanswerable; again for more."),
    ] = None,
    count: Annotated[int, typer.Option(min=1, max=500, help="Cases of a corpus.")] = 20,
    each: Annotated[int, typer.Option(min=1, max=5, help="Questions of a live topic.")] = 2,
    measured: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL", help="A model that the set will measure; again for more."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Another seed asks about other passages.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Write JSON lines here; default propose to the daemon.")
    ] = None,
) -> None:
    """Drafts cases for topics that no case covers, or from documents; people edit and sign them.

    The judge that asks about documents is never the model that is measured.
    """
    from ragvigil.app.cli.evaluation import golden_draft
    from ragvigil.evaluation.draft.from_documents import Kind

    kinds = kind or [each.value for each in Kind]
    for name in kinds:
        if name not in {each.value for each in Kind}:
            raise typer.BadParameter(f"--kind {name} is not one of {', '.join(Kind)}")
    settings = triage.settings_of(config)
    if corpus is None:
        lines = golden_draft.live_lines(settings, each)
    else:
        lines = golden_draft.document_lines(
            settings, corpus, kinds, count, measured=measured or (), seed=seed
        )
    sys.exit(golden_draft.deliver(settings, lines, out) if lines else 1)


def _facts(vital: Sequence[str], okay: Sequence[str]) -> list[dict[str, str]] | None:
    facts = [{"fact": text} for text in vital]
    return [*facts, *({"fact": text, "importance": "okay"} for text in okay)] or None


def _representatives(config: Path | None, issue: str) -> list[tuple[str, str]]:
    members = triage.fetch(config, path_of("issues", issue))["representatives"]
    return [(member["trace_id"], member["record_id"]) for member in members]
