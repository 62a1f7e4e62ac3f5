"""The service under test of `bench/newcomer.py`: its own environment, its processes, its logs."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx2

from bench.rig.report import progress
from ragvigil.app.demo.child_daemon import ChildDaemon, free_port
from ragvigil.app.process.tied import run_tied, start_tied

ROOT = Path(__file__).resolve().parents[2]
SERVICE = ROOT / "bench" / "newcomer_service"
ENVIRONMENT = ROOT / ".venv-newcomer"
INSTALL_SECONDS, START_SECONDS, ASK_SECONDS = 1200, 300, 120
AT_ONCE = 4

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """One way to build and trace the service; `routes` are the ways that it answers."""

    framework: str
    instrumentor: str
    protocol: str
    routes: tuple[str, ...]

    @property
    def name(self) -> str:
        """The service's name."""
        return f"{self.framework}-{self.instrumentor}-{self.protocol}"


STACKS = tuple(
    Stack(framework=framework, instrumentor=instrumentor, protocol=protocol, routes=routes)
    for framework, routes in (
        ("langchain", ("plain", "chain", "compressed")),
        ("llamaindex", ("plain", "engine")),
    )
    for instrumentor in ("openinference", "openllmetry")
    for protocol in ("http", "grpc")
)


def environment() -> Path:
    """The Python of the service's virtual environment, which is made where it is not up to date."""
    python, wanted = ENVIRONMENT / "bin" / "python", SERVICE / "requirements.txt"
    made_of, digest = ENVIRONMENT / "made-of", hashlib.sha256(wanted.read_bytes()).hexdigest()
    if made_of.is_file() and made_of.read_text() == digest:
        return python
    progress(f"installing the service's packages into {ENVIRONMENT.name} (some 400 MB)")
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # Every package is pinned in the file, and none is built: no dependency is looked for.
    pip += ["--no-deps", "--only-binary=:all:", "-r", str(wanted)]
    for command in ([sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT)], pip):
        done = run_tied(command, seconds=INSTALL_SECONDS)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)}\n{done.stderr[-2000:]}")
    made_of.write_text(digest)
    return python


@contextmanager
def model(python: Path, log: Path) -> Iterator[str]:
    """A language model's stand-in; gives the base of its URL. It logs every prompt."""
    port = free_port()
    command = [str(python), str(SERVICE / "model_stub.py"), str(port), str(log)]
    with _running(command, port, log.with_suffix(".out")):
        yield f"http://127.0.0.1:{port}/v1"


def ask_all(
    stack: Stack, tickets: Sequence[Any], daemon: ChildDaemon, model_url: str, folder: Path
) -> list[Row]:
    """Runs the service for as long as it takes to ask it all tickets; returns its own log."""
    port = free_port()
    endpoint = daemon.grpc if stack.protocol == "grpc" else daemon.http
    options = {
        "framework": stack.framework, "instrumentor": stack.instrumentor,
        "protocol": stack.protocol, "endpoint": endpoint, "name": stack.name,
        "model": model_url, "port": str(port), "folder": str(folder),
    }  # fmt: skip
    command = [str(ENVIRONMENT / "bin" / "python"), str(SERVICE / "service.py")]
    command += [part for name, value in options.items() for part in (f"--{name}", value)]
    with (
        _running(command, port, folder / f"{stack.name}.out"),
        httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=ASK_SECONDS) as client,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        list(pool.map(lambda ticket: client.post(f"/{ticket.route}", json=asdict(ticket)), tickets))
    return lines_of(folder / f"{stack.name}.log.jsonl")


def lines_of(path: Path) -> list[Row]:
    """The rows of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@contextmanager
def _running(command: Sequence[str], port: int, out: Path) -> Iterator[None]:
    """A server until the end of the block, where it is asked to stop and flush."""
    with out.open("wb") as log:
        process = start_tied(command, stdout=log, stderr=log)
    try:
        _wait_for(process, port, out)
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for(process: subprocess.Popen[Any], port: int, out: Path) -> None:
    give_up = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < give_up:
        try:
            httpx2.get(f"http://127.0.0.1:{port}/", timeout=5)
            return
        except httpx2.HTTPError:
            time.sleep(0.1)
    raise SystemExit(f"{out.stem} did not start: {out.read_text(errors='replace')[-2000:]}")
