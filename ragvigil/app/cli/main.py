"""The command line. Each command imports what it needs when it runs, so that help is instant."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from ragvigil.app.cli.acts import acts
from ragvigil.app.cli.alert import alert
from ragvigil.app.cli.backup import backup, restore
from ragvigil.app.cli.deploy import deploy
from ragvigil.app.cli.erase import erase
from ragvigil.app.cli.evaluation.evaluate import evaluate
from ragvigil.app.cli.evaluation.gate import gate
from ragvigil.app.cli.evaluation.golden import golden
from ragvigil.app.cli.grading.judge import judge
from ragvigil.app.cli.grading.labels import labels
from ragvigil.app.cli.grading.rubric import rubric
from ragvigil.app.cli.help import help_
from ragvigil.app.cli.incidents import incidents
from ragvigil.app.cli.input import triage
from ragvigil.app.cli.input.options import (
    Config,
    Json,
    asks_daemon,
    import_formats,
    reads_settings,
    rubric_names,
)
from ragvigil.app.cli.issues import issues
from ragvigil.app.cli.limits import limits
from ragvigil.app.cli.reports.digest import digest
from ragvigil.app.cli.reports.proxies import proxies
from ragvigil.app.cli.reports.releases import releases
from ragvigil.app.cli.reports.sessions import sessions
from ragvigil.app.cli.reports.slices import slices
from ragvigil.app.cli.search import search

app = typer.Typer(
    name="ragvigil",
    help="Watches RAG quality in production: what moved, where, in which layer, since when.",
    epilog="`ragvigil help` lists topics: file formats, metrics, settings, exit codes. "
    "`ragvigil --install-completion` lets your shell complete commands and values.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(is_asked: bool) -> None:
    if not is_asked:
        return
    from importlib.metadata import version

    print(f"ragvigil {version('ragvigil')}")
    raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Options before the command."""


app.add_typer(judge, name="judge")
app.add_typer(rubric, name="rubric")
app.add_typer(labels, name="labels")
app.add_typer(incidents, name="incidents")
app.add_typer(issues, name="issues")
app.add_typer(golden, name="golden")
app.add_typer(alert, name="alert")
app.add_typer(deploy, name="deploy")

Format = Annotated[
    str,
    typer.Argument(
        metavar="FORMAT",
        autocompletion=import_formats,
        help="collector_file, collector_clickhouse, phoenix_export or langfuse_export.",
    ),
]


def main() -> None:
    """The `ragvigil` command. An error of use is printed as one line and exits with 2."""
    if isinstance(sys.stdout, TextIOWrapper):  # an answer may not fit the terminal's encoding
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app()
    except Exception as error:  # the kinds are imported when there is one: help waits for none
        _print_error(error)
        sys.exit(2)


def _print_error(error: Exception) -> None:
    """Prints an error of use as a line; raises any other error again."""
    from ragvigil.app.cli.output.console import print_text
    from ragvigil.app.client.api import Unreachable
    from ragvigil.app.settings import SettingsError
    from ragvigil.extras import NotInstalled

    if isinstance(error, SettingsError | NotInstalled):
        print(error, file=sys.stderr)
    elif isinstance(error, Unreachable):
        print_text(error, to=sys.stderr)
    else:
        raise error


@app.command()
@reads_settings
def run(
    config: Config = None,
    data_dir: Annotated[Path | None, typer.Option(help="Instead of the setting data_dir.")] = None,
    roles: Annotated[
        str | None, typer.Option(help="edge, analyst, scorer or several; instead of [fleet] roles.")
    ] = None,
) -> None:
    """Runs the daemon until SIGTERM or Ctrl-C."""
    if config is not None:
        os.environ["RAGVIGIL_CONFIG"] = str(config)
    if data_dir is not None:
        os.environ["RAGVIGIL_DATA_DIR"] = str(data_dir)
    if roles is not None:
        names = ", ".join(f'"{role.strip()}"' for role in roles.split(","))
        os.environ["RAGVIGIL_FLEET__ROLES"] = f"[{names}]"
    # A fresh interpreter: the intake must not carry the modules that the command line has loaded.
    os.execv(sys.executable, [sys.executable, "-m", "ragvigil.app.daemon"])


@app.command()
@reads_settings
def check(
    config: Config = None,
    show_all: Annotated[bool, typer.Option("--all", help="Print every key and its value.")] = False,
    json: Json = False,
) -> None:
    """Checks the settings: errors, and warnings with an explanation. Starts nothing."""
    from ragvigil.app.cli.check import report

    sys.exit(report(triage.settings_of(config), show_all=show_all, as_json=json))


@app.command()
@reads_settings
def migrate(
    config: Config = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the SQL, run nothing.")] = False,
) -> None:
    """Brings the store's tables up to date. The daemon does so itself at start."""
    from ragvigil.app.cli.migrate import migrate_store

    sys.exit(migrate_store(triage.settings_of(config), dry_run=dry_run))


@app.command()
def demo(
    data_dir: Annotated[Path | None, typer.Option(help="Keep the demo's data here.")] = None,
) -> None:
    """Shows what moved and why in sample traffic. Runs a daemon and a service until Ctrl-C."""
    from ragvigil.app.demo.run import run_demo

    sys.exit(run_demo(data_dir))


@app.command()
@asks_daemon
def why(
    route: Annotated[str | None, typer.Argument(help="This route only.")] = None,
    config: Config = None,
    service: Annotated[str | None, typer.Option(help="This service only.")] = None,
    json: Json = False,
) -> None:
    """What is wrong and why. If nothing is, shows what changed and what could be seen."""
    from ragvigil.app.cli.output.incidents import print_why

    print_why(triage.fetch(config, "why", route=route, service=service), as_json=json)


@app.command()
@asks_daemon
def topics(
    config: Config = None,
    service: Annotated[str | None, typer.Option(help="This service only.")] = None,
    json: Json = False,
) -> None:
    """What users ask about. Shows each topic's share, failures, thumbs-down and golden cases."""
    from ragvigil.app.cli.output.topics import print_topics

    print_topics(triage.fetch(config, "topics", service=service), as_json=json)


@app.command()
@asks_daemon
def status(config: Config = None, json: Json = False) -> None:
    """What is received, scored and stored right now."""
    from ragvigil.app.cli.output.reports import print_status

    print_status(triage.fetch(config, "status"), as_json=json)


@app.command()
@asks_daemon
def trace(
    trace_id: Annotated[str, typer.Argument(help="Its id, or the beginning of it.")],
    config: Config = None,
    json: Json = False,
) -> None:
    """One trace and its scores. Shows question, chunks, answer, and the reason of every score."""
    from ragvigil.app.cli.output.reports import print_trace

    path = triage.path_to(config, "traces", trace_id)
    print_trace(triage.fetch(config, path), as_json=json)


@app.command()
@asks_daemon
def deltas(
    config: Config = None,
    route: Annotated[str | None, typer.Option(help="This route only.")] = None,
    rubric: Annotated[
        str | None, typer.Option(help="This rubric only.", autocompletion=rubric_names)
    ] = None,
    show_all: Annotated[bool, typer.Option("--all", help="Every line, not the first ten.")] = False,
    json: Json = False,
) -> None:
    """Mean scores by layer and route, what moved first."""
    from ragvigil.app.cli.output.deltas import print_all_deltas, print_deltas

    reply = triage.fetch(config, "deltas", route=route, rubric=rubric)
    show = print_all_deltas if show_all else print_deltas
    show(reply, as_json=json)


@app.command()
@asks_daemon
def doctor(config: Config = None, json: Json = False) -> None:
    """What the spans lack. Names the rubrics that this switches off, and the line that fixes it."""
    from ragvigil.app.cli.output.reports import print_doctor

    print_doctor(triage.fetch(config, "doctor"), as_json=json)


@app.command()
@asks_daemon
def mcp(
    config: Config = None,
    http: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Serve HTTP here, on loopback, instead of stdio."),
    ] = None,
) -> None:
    """Lets a coding agent ask what broke: read-only tools of the Model Context Protocol."""
    from ragvigil.extras import MCP, require

    require(MCP)
    from ragvigil.app.mcp.server import serve

    serve(triage.settings_of(config), http)


@app.command()
@reads_settings
def score(
    file: Annotated[Path, typer.Argument(help="JSONL of records; - reads standard input.")],
    config: Config = None,
    json: Json = False,
) -> None:
    """Scores a file of records without a daemon."""
    from ragvigil.app.cli.score import score_file

    sys.exit(score_file(file, triage.settings_of(config), as_json=json))


@app.command()
@reads_settings
def replay(
    path: Annotated[Path, typer.Argument(help="Folder of recorded OTLP request bodies.")],
    config: Config = None,
    endpoint: Annotated[
        str | None, typer.Option(help="OTLP/HTTP base URL; default the daemon of the settings.")
    ] = None,
    rate: Annotated[float | None, typer.Option(help="Requests a second; 0 is all at once.")] = None,
    backfill: Annotated[
        str | None, typer.Option(help="Send as a backfill of this name: the recorded times count.")
    ] = None,
    shift: Annotated[
        str | None, typer.Option(help="Move times: `now` (the last ends now) or seconds.")
    ] = None,
    new_ids: Annotated[bool, typer.Option("--new-ids", help="Fresh trace and span ids.")] = False,
    json: Json = False,
) -> None:
    """Sends recorded OTLP requests again. Keeps their pace, or sends at a rate."""
    from ragvigil.app.cli.replay import replay_folder
    from ragvigil.app.client.connection import to_otlp

    sending = to_otlp(triage.settings_of(config), endpoint, None, backfill=backfill or "")
    sys.exit(replay_folder(path, sending, rate, shift, new_ids=new_ids, as_json=json))


@app.command("import")
@reads_settings
def import_(
    form: Format,
    source: Annotated[
        str, typer.Argument(help="A file; the URL of the database for collector_clickhouse.")
    ],
    config: Config = None,
    endpoint: Annotated[
        str | None, typer.Option(help="OTLP/HTTP base URL; default the daemon of the settings.")
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(help="File with the admin token, which a backfill to another machine needs."),
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the backfill.")] = "import",
    since: Annotated[str | None, typer.Option(help="Spans that started then or later.")] = None,
    until: Annotated[str | None, typer.Option(help="Spans that started before.")] = None,
    state: Annotated[
        Path | None,
        typer.Option(help="File that notes how far the import is; default beside the source."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count, send nothing.")] = False,
    json: Json = False,
) -> None:
    """Imports history with its own times. Resumes; judges only with [judge] backfill = true."""
    from ragvigil.app.cli.import_ import import_source
    from ragvigil.app.client.connection import to_otlp

    sending = to_otlp(triage.settings_of(config), endpoint, token_file, backfill=name)
    sys.exit(
        import_source(
            form, source, sending, state=state, since=since, until=until,
            dry_run=dry_run, as_json=json,
        )
    )  # fmt: skip


app.command()(search)
app.command()(evaluate)
app.command()(gate)
app.command()(proxies)
app.command()(slices)
app.command()(releases)
app.command()(digest)
app.command()(sessions)
app.command()(limits)
app.command()(acts)
app.command()(erase)
app.command()(backup)
app.command()(restore)
app.command("help")(help_)

if __name__ == "__main__":
    main()
