"""`ragvigil alert test`: whether an alert reaches whoever is on call."""

from __future__ import annotations

import json as json_
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import typer

from ragvigil.app.options import Config, Json

alert = typer.Typer(help="The way from the daemon to whoever is on call.", no_args_is_help=True)


@alert.callback()
def _alert() -> None:
    """Keeps `test` a command of its own while it is the only one."""


@alert.command("test")
def raise_test(config: Config = None, json: Json = False) -> None:
    """Raises the alert RagvigilTestAlert for five minutes: nothing is wrong, somebody is told."""
    from ragvigil.app import api_client
    from ragvigil.app.settings import load

    settings = load(config)
    begun = api_client.post(settings, "alerts/test", {}, role="triager")
    print(json_.dumps(begun) if json else told(begun, settings.metrics.endpoint))


def told(begun: Mapping[str, Any], metrics: str) -> str:
    """What happens now, and how to look at each step of the way.

    `begun` is what the API answered, `metrics` the address of the metrics listener.
    """
    until = datetime.fromisoformat(begun["until"]).astimezone()
    return f"""\
{begun["metric"]} is 1 until {until:%H:%M:%S}. What happens now, and where to look:

1. The metric is exposed           curl -s http://{metrics}/metrics | grep {begun["metric"]}
2. Prometheus reads it, its rule   {begun["alert"]} under /alerts of Prometheus: firing,
   fires                           after one scrape and one evaluation
3. Alertmanager tells your pager   amtool alert query alertname={begun["alert"]}
4. It ends by itself               the alert is resolved after {until:%H:%M:%S}

Where step 2 does not come: are alerts/rules/*.yml among the rule_files, is the daemon a target?
Where step 3 does not come: does a route send severity="info" to your pager?"""
