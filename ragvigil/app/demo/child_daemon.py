"""A daemon as a child process, on free ports: for the demo, the benchmarks and the tests."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import httpx2

from ragvigil.app.process.tied import start_tied

DEFAULT_PORTS = {"grpc": 4317, "http": 4318, "metrics": 9464, "web": 8088}
PATIENCE_SECONDS = 60.0
VARIABLES = {
    "grpc": "RAGVIGIL_COLLECTOR__GRPC_ENDPOINT",
    "http": "RAGVIGIL_COLLECTOR__HTTP_ENDPOINT",
    "metrics": "RAGVIGIL_METRICS__ENDPOINT",
    "web": "RAGVIGIL_WEB__ENDPOINT",
}


START_SECONDS = 300.0
"""A start takes three seconds on an idle machine, and thirty on one with eight times the load."""


class DidNotStart(Exception):
    """The daemon ended or did not get ready in time; `str(error)` holds the end of its log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildDaemon:
    """A running daemon: its process (the intake) and where it listens (`host:port`)."""

    process: subprocess.Popen[bytes]
    data_dir: Path
    grpc: str
    http: str
    metrics: str
    web: str

    def get(self, path: str, **parameters: Any) -> Any:
        """JSON of `/api/v1/<path>`; a busy daemon is asked again. Raises httpx2.HTTPError."""
        give_up = time.monotonic() + PATIENCE_SECONDS
        while True:
            reply = httpx2.get(f"http://{self.web}/api/v1/{path}", params=parameters, timeout=60)
            if reply.status_code != 503 or time.monotonic() > give_up:
                return reply.raise_for_status().json()
            time.sleep(float(reply.headers.get("retry-after", 1)))

    def is_ready(self) -> bool:
        """Whether `/readyz` says yes."""
        with contextlib.suppress(httpx2.HTTPError):
            return httpx2.get(f"http://{self.metrics}/readyz", timeout=5).status_code == 200
        return False

    def wait_ready(self, seconds: float = START_SECONDS) -> float:
        """Seconds until ready. Raises DidNotStart after `seconds` or when the process ends."""
        started = time.monotonic()
        while not self.is_ready():
            waited = time.monotonic() - started
            if self.process.poll() is not None or waited > seconds:
                raise DidNotStart(self.last_lines())
            time.sleep(0.05)
        return time.monotonic() - started

    def last_lines(self) -> str:
        """The end of the daemon's log."""
        return (self.data_dir / "daemon.log").read_text(errors="replace")[-3000:]

    def stop(self, deadline_seconds: float = 30) -> int:
        """SIGTERM, then waits; kills after the deadline. Returns the exit status."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(deadline_seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


def start(
    data_dir: Path, *, settings: Mapping[str, str] | None = None, usual_ports: bool = False
) -> ChildDaemon:
    """Starts a daemon on `data_dir` and free ports.

    `usual_ports` takes the default ports where they are free. `settings` are `RAGVIGIL_*`
    variables and win. Returns at once: see `wait_ready`.
    """
    data_dir.mkdir(parents=True, exist_ok=True)
    usual = DEFAULT_PORTS if usual_ports else dict.fromkeys(DEFAULT_PORTS, 0)
    ports = {name: f"127.0.0.1:{free_port(port)}" for name, port in usual.items()}
    variables = {VARIABLES[name]: endpoint for name, endpoint in ports.items()}
    environment = (
        os.environ | variables | {"RAGVIGIL_DATA_DIR": str(data_dir)} | dict(settings or {})
    )
    with (data_dir / "daemon.log").open("ab") as log:
        process = _spawn(environment, log)
    endpoints = {name: environment[variable] for name, variable in VARIABLES.items()}
    return ChildDaemon(process=process, data_dir=data_dir, **endpoints)


def _spawn(environment: Mapping[str, str], log: IO[bytes]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "ragvigil.app.daemon"]
    return start_tied(command, env=environment, stdout=log, stderr=log)


def free_port(usual: int = 0) -> int:
    """`usual` where nothing listens on it, else a random free port. Raises DidNotStart.

    Random ports lie below the range that systems use for outgoing connections. They are random
    because daemons that start at the same moment would all find the same next port free.
    """
    for port in (usual or _random_port(), *(_random_port() for _ in range(100))):
        with socket.socket() as probe, contextlib.suppress(OSError):
            # As servers bind: a port whose last connections are in TIME_WAIT counts as free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return port
    raise DidNotStart("no free port on 127.0.0.1")


def _random_port() -> int:
    return random.SystemRandom().randrange(20_000, 32_000)


@contextlib.contextmanager
def running(
    data_dir: Path, *, settings: Mapping[str, str] | None = None, usual_ports: bool = False
) -> Iterator[ChildDaemon]:
    """A ready daemon, which is stopped at the end of the block."""
    daemon = start(data_dir, settings=settings, usual_ports=usual_ports)
    try:
        daemon.wait_ready()
        yield daemon
    finally:
        daemon.stop()
