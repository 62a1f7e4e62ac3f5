"""The processes of the demo: a daemon and a service of its own, on ports that are free."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

STOP_SECONDS = 25.0
PREFERRED = {"grpc": 4317, "http": 4318, "metrics": 9464, "web": 8088, "service": 8099}


class DemoFailed(Exception):
    """The demo cannot go on; `str(error)` says why and where to look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Loopback ports of the demo."""

    grpc: int
    http: int
    metrics: int
    web: int
    service: int

    def url(self, name: str) -> str:
        """`http://127.0.0.1:PORT` of one of them."""
        return f"http://127.0.0.1:{getattr(self, name)}"

    def moved(self) -> dict[str, int]:
        """Those that are not the usual ones, because something else listens there."""
        return {n: getattr(self, n) for n, usual in PREFERRED.items() if getattr(self, n) != usual}


def free_ports() -> Ports:
    """The usual ports where they are free, others where they are not."""
    return Ports(**{name: _free(usual) for name, usual in PREFERRED.items()})


def daemon_environment(ports: Ports, data_dir: Path) -> dict[str, str]:
    """An environment in which the daemon has the demo's settings and nobody else's."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("RAGVIGIL_")}
    return clean | {
        "RAGVIGIL_DATA_DIR": str(data_dir),
        "RAGVIGIL_COLLECTOR__GRPC_ENDPOINT": f"127.0.0.1:{ports.grpc}",
        "RAGVIGIL_COLLECTOR__HTTP_ENDPOINT": f"127.0.0.1:{ports.http}",
        "RAGVIGIL_METRICS__ENDPOINT": f"127.0.0.1:{ports.metrics}",
        "RAGVIGIL_WEB__ENDPOINT": f"127.0.0.1:{ports.web}",
    }


def service_environment(ports: Ports) -> dict[str, str]:
    """An environment in which the service sends its spans to the demo's daemon."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "HELPDESK_"))}
    return clean | {
        "OTEL_EXPORTER_OTLP_ENDPOINT": ports.url("http"),
        "OTEL_BSP_SCHEDULE_DELAY": "1000",
    }


class Child:
    """A process that writes to a log file and is stopped when the demo ends."""

    def __init__(
        self, command: Sequence[str], *, env: Mapping[str, str], cwd: Path, log: Path
    ) -> None:
        self.log = log
        with log.open("ab") as output:
            # A session of its own, so that Ctrl-C reaches the demo alone, which then stops it.
            self._process = subprocess.Popen(
                [sys.executable, *command],
                env=dict(env),
                cwd=cwd,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def require_alive(self) -> None:
        """Raises DemoFailed with the end of the log where the process has ended."""
        code = self._process.poll()
        if code is not None:
            said = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            tail = "\n".join(said[-5:])
            raise DemoFailed(f"{self.log.stem} ended with code {code}:\n{tail}\nlog: {self.log}")

    def wait_for(self, url: str, *, seconds: float, sleep: Callable[[float], None]) -> None:
        """Returns when `url` answers 200; raises DemoFailed when that takes too long."""
        deadline = time.monotonic() + seconds
        while not answers(url):
            self.require_alive()
            if time.monotonic() > deadline:
                raise DemoFailed(f"{url} does not answer; log: {self.log}")
            sleep(0.2)

    def stop(self) -> None:
        """SIGTERM, and SIGKILL to whatever is left of its session after 25 seconds."""
        if self._process.poll() is None:
            self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def answers(url: str) -> bool:
    """Whether `url` answers 200 now."""
    try:
        return httpx.get(url, timeout=5).status_code == 200
    except httpx.TransportError:
        return False


def _free(usual: int) -> int:
    for port in (usual, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise DemoFailed("this machine has no free port on 127.0.0.1")
