"""Without an extra: one line that says what to install, and everything else runs."""

from __future__ import annotations

import os
import re
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragvigil import extras
from ragvigil.app.demo.child_daemon import DEFAULT_PORTS, VARIABLES, ChildDaemon, free_port
from ragvigil.app.demo.schedule import Plan, requests, schedule
from ragvigil.app.process.tied import run_tied, start_tied
from ragvigil.extras import Ability
from tests.clickhouse_http import Server
from tests.installations import ROOT, install, ran
from tests.replayed import recorded, send, wait_for

pytestmark = pytest.mark.slow

SERVER = {"RAGVIGIL_STORE__URL": "http://127.0.0.1:9/ragvigil"}
ABILITIES = [value for value in vars(extras).values() if isinstance(value, Ability)]
ABILITIES += extras.JUDGES.values()
BY_DESIGN = {"dev", "clustering"}
"""Extras that switch nothing on by themselves: tools, and a part of `local`."""


def way_out(extra: str) -> str:
    return f"needs ragvigil[{extra}], which is not installed: pip install 'ragvigil[{extra}]'"


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("core"))


def test_every_extra_is_in_the_table_and_every_ability_names_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    offered = set(project["optional-dependencies"])
    named = {ability.extra for ability in ABILITIES}
    assert named <= offered
    assert offered - named <= BY_DESIGN | {"demo"}
    (everything,) = project["optional-dependencies"]["all"]
    assert set(re.findall(r"\w+", everything)) == offered - BY_DESIGN - {"all"} | {"ragvigil"}


@pytest.mark.parametrize("ability", ABILITIES, ids=lambda ability: ability.name)
def test_an_ability_is_missed_in_the_core_and_there_with_its_extra(
    core: Path, tmp_path: Path, ability: Ability
) -> None:
    code = (
        "from ragvigil.extras import Ability, missing;"
        f"print(missing(Ability(name={ability.name!r}, extra={ability.extra!r},"
        f" modules={ability.modules!r})))"
    )
    without = run_tied([core, "-c", code], seconds=300).stdout
    assert without == f"{ability.name} {way_out(ability.extra)}\n"
    assert run_tied([install(tmp_path, ability.extra), "-c", code], seconds=300).stdout == "\n"


@pytest.mark.parametrize("command", ["check", "run"])
def test_an_embedded_store_without_its_engine_refuses(core: Path, command: str) -> None:
    done = ran(core, command)
    assert done.returncode == 2
    assert done.stderr == (
        f"[store] url: is empty, and the embedded store {way_out('embedded')}, or name a "
        f"ClickHouse server\n"
    )


@pytest.mark.parametrize("command", ["check", "run"])
@pytest.mark.parametrize(
    ("model", "name", "extra"),
    [
        ("openai:gpt-4.1-mini", "a judge that speaks OpenAI's protocol", "judge"),
        ("anthropic:claude", "a judge of Anthropic", "judge"),
        ("bedrock:claude", "a judge on Bedrock", "bedrock"),
    ],
)
def test_a_judge_without_its_library_refuses(
    core: Path, command: str, model: str, name: str, extra: str
) -> None:
    done = ran(core, command, **SERVER, RAGVIGIL_JUDGE__MODEL=model)
    assert done.returncode == 2
    assert done.stderr == f"[judge] model: {model}: {name} {way_out(extra)}\n"


def test_clustering_without_its_libraries_is_a_warning(core: Path) -> None:
    done = ran(core, "check", **SERVER)
    assert done.returncode == 0
    assert f"warning: [clustering]: clustering of issues {way_out('local')}\n" in done.stdout
    assert "the settings are valid; 2 warnings" in done.stdout


def test_what_is_switched_off_is_not_missed(core: Path) -> None:
    off = {"RAGVIGIL_CLUSTERING__ENABLED": "false", "RAGVIGIL_INFERENCE__ENABLED": "false"}
    assert "needs ragvigil[" not in ran(core, "check", **SERVER, **off).stdout


def test_hdbscan_alone_clusters_without_torch(tmp_path: Path) -> None:
    done = ran(install(tmp_path, "clustering"), "check", **SERVER)
    assert "[clustering]" not in done.stdout
    assert "warning: [inference]: embedding by a local model" in done.stdout


@pytest.mark.parametrize(
    ("command", "extra"),
    [(["demo"], "all"), (["mcp"], "mcp"), (["migrate"], "embedded")],
)
def test_a_command_without_its_extra_says_so_in_a_line(
    core: Path, command: list[str], extra: str
) -> None:
    done = ran(core, *command)
    assert done.returncode == 2
    assert done.stderr.endswith(f" {way_out(extra)}\n")
    assert done.stderr.count("\n") == 1


def test_parquet_without_its_library_says_so_in_a_line(core: Path, tmp_path: Path) -> None:
    file = tmp_path / "spans.parquet"
    file.write_bytes(b"PAR1")
    done = ran(core, "import", "phoenix_export", str(file), "--dry-run", **SERVER)
    assert (done.returncode, done.stderr) == (2, f"{file}: reading Parquet {way_out('parquet')}\n")


@pytest.fixture
def daemon(core: Path, tmp_path: Path) -> Iterator[ChildDaemon]:
    """A daemon of the core alone, on a ClickHouse server."""
    ports = {name: f"127.0.0.1:{free_port()}" for name in DEFAULT_PORTS}
    data = tmp_path / "data"
    data.mkdir()
    own = {variable: ports[name] for name, variable in VARIABLES.items()}
    with Server(tmp_path / "server") as server, (data / "daemon.log").open("ab") as log:
        settings = {"RAGVIGIL_STORE__URL": server.url, "RAGVIGIL_DATA_DIR": str(data)}
        process = start_tied(
            [core, "-m", "ragvigil.app.daemon"],
            env=os.environ | own | settings,
            stdout=log,
            stderr=log,
        )
        daemon = ChildDaemon(process=process, data_dir=data, **ports)
        daemon.wait_ready()
        yield daemon
        assert daemon.stop() == 0


def test_the_core_alone_receives_scores_and_stores(core: Path, daemon: ChildDaemon) -> None:
    plan = Plan(ends_unix_nano=time.time_ns(), days=0.5, traces_per_hour=8)
    send(daemon, requests(schedule(recorded("healthy"), {}, plan), plan), backfill="core")
    records = wait_for(lambda: daemon.get("records")["records"])
    rubrics = {score["rubric"] for record in records for score in record["scores"]}
    assert {"citation_validity", "groundedness", "chunk_utilization"} <= rubrics
    for command in (["status"], ["why"], ["doctor"], ["deltas"], ["issues", "list"]):
        done = ran(core, *command, RAGVIGIL_WEB__ENDPOINT=daemon.web)
        assert (done.returncode, done.stderr) == (0, "")
    log = (daemon.data_dir / "daemon.log").read_text()
    assert "Traceback" not in log
    assert f"clustering of issues {way_out('local')}" in log
