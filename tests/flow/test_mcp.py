"""`ragvigil mcp` asked by the SDK's own client, over both transports."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from alerts.incidents.job import IncidentJob
from alerts.incidents.settings import IncidentSettings
from ragvigil.app.demo.child_daemon import free_port
from ragvigil.app.sources.incidents import Incidents
from ragvigil.store.engine.store import Store
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from tests.flow.test_api import NOW, Quiet
from tests.flow.test_incidents import change, finding
from tests.patience import PATIENCE_SECONDS
from tests.served_api import Commands, commands

pytestmark = pytest.mark.slow

TOKENS = {"reader_token": "r3ader"}
COMMAND = [sys.executable, "-m", "ragvigil.app.cli.main", "mcp", "--config"]


@pytest.fixture
def daemon(store: Store, tmp_path: Path) -> Iterator[Commands]:
    job = IncidentJob(store, IncidentSettings(), clock=time.time)
    job.run(NOW, [finding("a")], [change()])
    web = api(
        store, Quiet(), WebSettings.model_validate(TOKENS), watching=Incidents(store, job, Quiet())
    )
    with commands(web, tmp_path, TOKENS) as made:
        yield made


def asked(transport: Any, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """The tools' names, then what each call answers."""

    async def run() -> list[Any]:
        async with Client(transport) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            return [names, *[await client.call_tool(name, values) for name, values in calls]]

    return anyio.run(run)


def over_stdio(config: Path, *options: str) -> StdioServerParameters:
    command, *arguments = [*COMMAND, str(config), *options]
    return StdioServerParameters(command=command, args=arguments, env=dict(os.environ))


def test_an_agent_asks_what_broke_and_looks_closer(daemon: Commands) -> None:
    names, why, incidents, unknown = asked(
        over_stdio(daemon.config),
        ("why", {}),
        ("incidents", {"state": "open", "limit": 1}),
        ("incident", {"incident_id": "inc-none"}),
    )
    assert {"why", "incidents", "issues", "trace", "deltas", "topics", "doctor"} <= set(names)
    assert not why.is_error
    assert any("38 of 41 answers" in line for line in why.structured_content["lines"])
    (incident,) = incidents.structured_content["incidents"]
    assert incident["state"] == "open"
    assert unknown.is_error
    assert "inc-none" in unknown.content[0].text


def test_it_asks_the_daemon_that_the_option_names(daemon: Commands, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.toml"
    elsewhere.write_text('[client]\nurl = "http://127.0.0.1:9"\ntoken = "r3ader"\n')
    (_, why) = asked(over_stdio(elsewhere, "--url", f"http://127.0.0.1:{daemon.port}"), ("why", {}))
    assert not why.is_error


@contextmanager
def over_http(config: Path) -> Iterator[str]:
    endpoint = f"127.0.0.1:{free_port()}"
    process = subprocess.Popen([*COMMAND, str(config), "--http", endpoint])
    try:
        give_up = time.monotonic() + PATIENCE_SECONDS
        while not _answers(endpoint) and time.monotonic() < give_up:
            time.sleep(0.1)
        yield f"http://{endpoint}/mcp"
    finally:
        process.terminate()
        process.wait()


def _answers(endpoint: str) -> bool:
    try:
        return httpx2.get(f"http://{endpoint}/").status_code == 404
    except httpx2.HTTPError:
        return False


def test_over_http_each_caller_needs_a_token_of_their_own(daemon: Commands) -> None:
    with over_http(daemon.config) as url:
        (_, refused) = asked(streamable_http_client(url), ("why", {}))
        with_token = httpx2.AsyncClient(headers={"authorization": "Bearer r3ader"})
        (_, answered) = asked(streamable_http_client(url, http_client=with_token), ("why", {}))
        rebound = httpx2.post(url, headers={"host": "evil.example"}, json={})
    assert refused.is_error
    assert not answered.is_error
    assert rebound.status_code == 421


@pytest.mark.parametrize(
    ("endpoint", "words"),
    [
        ("0.0.0.0:8090", "could be reached from other machines: give a loopback address"),
        ("8090", "not an address of the form host:port"),
    ],
)
def test_an_address_that_it_will_not_serve_is_refused_in_a_line(
    daemon: Commands, endpoint: str, words: str
) -> None:
    done = subprocess.run(
        [*COMMAND, str(daemon.config), "--http", endpoint], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
