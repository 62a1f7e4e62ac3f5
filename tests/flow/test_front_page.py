"""Every command on the front page does what the page says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from ragvigil.app.demo.child_daemon import DEFAULT_PORTS, VARIABLES, ChildDaemon, free_port
from ragvigil.app.demo.schedule import Plan, requests, schedule
from ragvigil.app.process.tied import start_tied
from tests.replayed import recorded, send, wait_for

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
LINES = [
    line.partition(" #")[0].strip()
    for block in re.findall(r"(?:^ {4}.*\n)+", (ROOT / "README.md").read_text(), re.M)
    for line in block.splitlines()
]
INLINE = re.findall(r"`((?:ragvigil|pipx|uv) [^`]+)`", (ROOT / "README.md").read_text())
BESIDE = re.findall(r"# or: (.+)", (ROOT / "README.md").read_text())
COMMANDS = [line for line in (*LINES, *BESIDE, *INLINE) if re.match(r"[a-z]+ ", line)]
RUN = "ragvigil run"
ELSEWHERE = {"ragvigil import", "ragvigil labels import", "ragvigil demo", "ragvigil mcp"}
"""Here only that they exist: they read a file, or run until somebody ends them."""


def commands(program: str) -> list[str]:
    return [line for line in COMMANDS if line.startswith(f"{program} ")]


def run(words: list[str], environment: Mapping[str, str], folder: Path) -> str:
    done = subprocess.run(
        words, env=dict(environment), cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of somebody whose usual ports are taken."""
    folder = tmp_path_factory.mktemp("front-page")
    ports = {VARIABLES[name]: f"127.0.0.1:{free_port()}" for name in DEFAULT_PORTS}
    return os.environ | ports | {"RAGVIGIL_DATA_DIR": str(folder / "ragvigil-data")}


@pytest.fixture(scope="module")
def daemon(where: dict[str, str]) -> Iterator[ChildDaemon]:
    """`ragvigil run`, with some answers of the example service."""
    assert RUN in COMMANDS
    folder = Path(where["RAGVIGIL_DATA_DIR"])
    folder.mkdir()
    log = (folder / "daemon.log").open("ab")
    process = start_tied([BIN / "ragvigil", "run"], env=where, stdout=log, stderr=log)
    ports = {name: where[variable] for name, variable in VARIABLES.items()}
    daemon = ChildDaemon(process=process, data_dir=folder, **ports)
    daemon.wait_ready()
    plan = Plan(ends_unix_nano=time.time_ns(), days=1, traces_per_hour=4)
    send(daemon, requests(schedule(recorded("healthy"), {}, plan), plan), backfill="front-page")
    wait_for(lambda: daemon.get("records")["records"])
    yield daemon
    assert daemon.stop() == 0


def test_the_page_has_commands_of_every_kind() -> None:
    assert len(commands("ragvigil")) >= 10
    assert len(commands("pipx")) == 2
    assert len(commands("uv")) == 1
    assert len(commands("docker")) == 2
    assert len(commands("make")) == 2
    assert len(commands("export")) == 2


@pytest.mark.parametrize("line", [line for line in commands("ragvigil") if line != RUN])
def test_a_command_works_beside_a_running_daemon(
    daemon: ChildDaemon, where: dict[str, str], tmp_path: Path, line: str
) -> None:
    if "migrate" in line:  # of a store that no daemon holds
        where = where | {"RAGVIGIL_DATA_DIR": str(tmp_path / "data")}
    if line in ELSEWHERE:
        line += " --help"
    trace_id = daemon.get("records")["records"][0]["trace_id"]
    words = [word.replace("ID", trace_id) for word in shlex.split(line)]
    assert run([str(BIN / words[0]), *words[1:]], where, tmp_path)


def test_the_exported_variables_bring_spans_to_the_daemon(
    daemon: ChildDaemon, where: dict[str, str], tmp_path: Path
) -> None:
    exported = dict(line.removeprefix("export ").split("=", 1) for line in commands("export"))
    usual = f"127.0.0.1:{DEFAULT_PORTS['http']}"
    endpoint = exported["OTEL_EXPORTER_OTLP_ENDPOINT"]
    assert usual in endpoint
    exported["OTEL_EXPORTER_OTLP_ENDPOINT"] = endpoint.replace(usual, daemon.http)
    code = (
        "from opentelemetry.sdk.trace import TracerProvider\n"
        "from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult\n"
        "from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter\n"
        "provider, exporter = TracerProvider(), OTLPSpanExporter()\n"
        "span = provider.get_tracer('front-page').start_span('ask')\n"
        "span.end()\n"
        "assert exporter.export([span]) is SpanExportResult.SUCCESS\n"
    )
    run([sys.executable, "-c", code], where | exported, tmp_path)


def test_what_make_is_told_to_do_is_there() -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M)
    assert {line.split()[1] for line in commands("make")} <= set(targets)


def test_docker_is_told_of_what_the_image_has() -> None:
    build, start = commands("docker")
    dockerfile = (ROOT / build.split("-f ")[1].split()[0]).read_text()
    assert 'ENTRYPOINT ["ragvigil"]' in dockerfile
    assert start.split("-v ")[1].split()[0].endswith(":/data")
    assert "VOLUME /data" in dockerfile
    assert build.split("-t ")[1].split()[0] == start.split()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    words = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(ROOT)]
    run(words, os.environ, folder)
    return next(folder.glob("ragvigil-*.whl"))


@pytest.mark.slow
def test_the_extra_that_brings_local_models_is_one_of_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as parts:
        name = next(name for name in parts.namelist() if name.endswith(".dist-info/METADATA"))
        extras = re.findall(r"^Provides-Extra: (\w+)$", parts.read(name).decode(), re.M)
    assert all(
        line.split("[")[1].rstrip('"]') in extras for line in COMMANDS if '"ragvigil[' in line
    )


@pytest.mark.slow
def test_the_wheel_holds_what_a_user_needs_without_a_checkout(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as parts:
        names = set(parts.namelist())
    for name in ("deploy/compose.yaml", "docs/runbook.md", "examples/helpdesk/service.py"):
        assert f"ragvigil/shipped/{name}" in names
    for folder in ("articles/current", "recorded/healthy", "recorded/fabricated_quotes"):
        place = f"ragvigil/shipped/examples/helpdesk/{folder}/"
        assert any(name.startswith(place) for name in names)
    assert not {name for name in names if "/tests/" in name or name.endswith(".env")}


# Without the extras, which take minutes and gigabytes: `make package-check` installs them.
@pytest.mark.parametrize("line", [*commands("pipx"), *commands("uv")])
@pytest.mark.slow
def test_an_installed_wheel_has_the_command(wheel: Path, tmp_path: Path, line: str) -> None:
    folders = {
        "PIPX_HOME": "pipx",
        "PIPX_BIN_DIR": "bin",
        "UV_TOOL_DIR": "uv",
        "UV_TOOL_BIN_DIR": "bin",
    }
    places = {name: str(tmp_path / folder) for name, folder in folders.items()}
    pins = {"UV_CONSTRAINT": str(ROOT / "constraints.txt")}
    environment = os.environ | places | pins | {"PATH": f"{BIN}:{os.environ['PATH']}"}
    words = [re.sub(r"ragvigil(\[\w+\])?", str(wheel), word) for word in shlex.split(line)]
    run([*words, "--python", sys.executable], environment, tmp_path)
    said = run([str(tmp_path / "bin" / "ragvigil"), "--version"], environment, tmp_path)
    assert wheel.name.split("-")[1] in said
