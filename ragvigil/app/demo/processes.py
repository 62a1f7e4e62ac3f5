"""The processes beside the demo's daemon: the service and its simulated users."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx2

from ragvigil.app.process.tied import start_tied

STOP_SECONDS = 25.0


class DemoFailed(Exception):
    """The demo cannot go on; `str(error)` says why and where to look."""


def service_environment(otlp: str) -> dict[str, str]:
    """An environment for the service that sends its spans to `otlp`.

    The user's own OpenTelemetry and help desk settings are left out.
    """
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "HELPDESK_"))}
    return clean | {"OTEL_EXPORTER_OTLP_ENDPOINT": otlp, "OTEL_BSP_SCHEDULE_DELAY": "1000"}


class Child:
    """A process that writes to a log file and is stopped when the demo ends."""

    def __init__(
        self, command: Sequence[str], *, env: Mapping[str, str], cwd: Path, log: Path
    ) -> None:
        self.log = log
        with log.open("ab") as output:
            # A session of its own: Ctrl-C reaches the demo alone, which then stops this process.
            self._process = start_tied(
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
            lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            tail = "\n".join(lines[-5:])
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
        """Sends SIGTERM; after 25 seconds, SIGKILL to all of its session."""
        if self._process.poll() is None:
            self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            # The session's leader has the id of its process group: what it started ends as well.
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def answers(url: str) -> bool:
    """Whether `url` answers 200 now."""
    try:
        return httpx2.get(url, timeout=5).status_code == 200
    except httpx2.TransportError:
        return False
