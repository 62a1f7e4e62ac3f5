"""Starts a Prometheus for a test, and queries it as Grafana does."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx2

from ragvigil.app.demo.child_daemon import free_port
from ragvigil.app.process.tied import start_tied
from tests.grafana_boards import Asked, substituted
from tests.monitoring import tool
from tests.patience import PATIENCE_SECONDS

FEW_MINUTES = 300


class Prometheus:
    """A client of a test's own Prometheus."""

    def __init__(self, url: str) -> None:
        self._client = httpx2.Client(base_url=f"{url}/api/v1", timeout=PATIENCE_SECONDS)

    def get(self, path: str, **parameters: str) -> Any:
        """The `data` of a reply. Raises AssertionError with Prometheus' own words."""
        reply = self._client.get(path, params=parameters).json()
        assert reply["status"] == "success", f"{parameters}: {reply.get('error')}"
        return reply["data"]

    def asked(self, query: Asked, values: Mapping[str, str]) -> list[Any]:
        """Runs a panel's query as the panel does; returns its series."""
        expr = substituted(query.expr, values)
        if query.is_instant:
            return list(self.get("query", query=expr)["result"])
        now = time.time()
        span = {"start": str(now - FEW_MINUTES), "end": str(now), "step": "5"}
        return list(self.get("query_range", query=expr, **span)["result"])

    def shown(self, query: Asked, values: Mapping[str, str]) -> list[Any]:
        """The series of a panel that must show something: fails when it stays empty.

        One scrape that a busy machine answers too late empties every panel for a moment.
        """
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (series := self.asked(query, values)):
            assert time.monotonic() < deadline, f"{query.panel}: {substituted(query.expr, values)}"
            time.sleep(0.3)
        return series

    def values(self, metric: str, label: str) -> list[str]:
        """The values that Grafana's `label_values(metric, label)` returns."""
        rows = self.get("query", query=f"group by ({label}) ({metric})")["result"]
        return sorted(row["metric"].get(label, "") for row in rows)

    def wait_for(self, expr: str, seconds: float = PATIENCE_SECONDS) -> None:
        """Waits until `expr` has a series; fails after `seconds`."""
        deadline = time.monotonic() + seconds
        while not self.get("query", query=expr)["result"]:
            assert time.monotonic() < deadline, f"no series of {expr}"
            time.sleep(0.3)


@contextlib.contextmanager
def scraping(config: Path, folder: Path) -> Iterator[Prometheus]:
    """Runs a server with this configuration and its data in `folder`."""
    address = f"127.0.0.1:{free_port()}"
    command = [
        tool("prometheus"),
        f"--config.file={config}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={address}",
    ]
    with (folder / "log").open("wb") as log:
        process = start_tied(command, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not _is_ready(address):
            assert time.monotonic() < deadline, (folder / "log").read_text()[-2000:]
            time.sleep(0.1)
        yield Prometheus(f"http://{address}")
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)


def _is_ready(address: str) -> bool:
    try:
        return httpx2.get(f"http://{address}/-/ready", timeout=PATIENCE_SECONDS).status_code == 200
    except httpx2.TransportError:
        return False
