"""`ragvigil alert test|rules`: tests the way of an alert to your pager; writes the rules."""

from __future__ import annotations

import json as json_
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragvigil.app.cli.input.options import Config, Json, asks_daemon, reads_settings

if TYPE_CHECKING:
    from alerts.settings import MetricsSettings
    from ragvigil.app.cli.output.console import JsonObject

alert = typer.Typer(help="Alert rules, and a test of the way to your pager.", no_args_is_help=True)


@alert.command("test")
@asks_daemon
def raise_test(config: Config = None, json: Json = False) -> None:
    """Raises the alert RagvigilTestAlert for five minutes, to see whether your pager gets it."""
    from ragvigil.app.cli.input import triage
    from ragvigil.app.client import api

    settings = triage.settings_of(config)
    reply = api.post(settings, "alerts/test", {}, role="triager")
    print(json_.dumps(reply) if json else instructions(reply, scrape(settings.metrics)))


@alert.command("rules")
@reads_settings
def rules(
    to: Annotated[Path, typer.Option("--to", help="Folder for the rule files; it is created.")],
    config: Config = None,
) -> None:
    """Writes the Prometheus rules into a folder, with links to your runbook."""
    from ragvigil.app.cli.alert_rules import write_rules
    from ragvigil.app.settings import load

    runbook = load(config).web.runbook
    try:
        paths = write_rules(to, runbook)
    except OSError as error:
        typer.echo(f"{to}: the rules cannot be written: {error.strerror}", err=True)
        raise typer.Exit(2) from error
    for path in paths:
        print(path)
    print(f"runbook: {runbook}\nlist them in prometheus.yml:  rule_files: [{to.resolve()}/*.yml]")


def scrape(settings: MetricsSettings) -> str:
    """The command that reads `/metrics`."""
    scheme = "https" if settings.tls_key else "http"
    has_token = settings.token is not None or settings.token_file is not None
    header = '-H "Authorization: Bearer TOKEN" ' if has_token else ""
    return f"curl -s {header}{scheme}://{settings.endpoint}/metrics"


def instructions(test: JsonObject, scrape_command: str) -> str:
    """What happens now, and how to check each step on the way to the pager.

    `test` is the API's reply, `scrape_command` the command that reads `/metrics`.
    """
    until = datetime.fromisoformat(test["until"]).astimezone()
    name, metric = test["alert"], test["metric"]
    return f"""\
{metric} is 1 until {until:%H:%M:%S}. What happens now, and where to look:

1. The daemon exposes it
   {scrape_command} | grep {metric}
2. Prometheus reads it and its rule fires: one scrape and one evaluation later
   {name} on the page /alerts of Prometheus; if not, are alerts/rules/*.yml among the
   rule_files, and is the daemon a target?
3. Alertmanager tells your pager
   amtool alert query alertname={name}; if not, does a route send it to your pager?
4. It ends by itself: the alert is resolved after {until:%H:%M:%S}"""
