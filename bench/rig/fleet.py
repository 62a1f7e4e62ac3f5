"""A fleet on one machine: edges and analysts over the embedded engine behind ClickHouse's HTTP
interface, with each answer's spans sent to the edge that the hash of its trace id names."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from bench.rig import processes
from ragvigil.app.demo.child_daemon import ChildDaemon, start
from tests.clickhouse_http import DATABASE, Server


class Fleet:
    """Daemons over one server, and questions about what they stored."""

    def __init__(self, folder: Path, server: Server, *, has_local_models: bool) -> None:
        self._folder, self._server = folder, server
        self._has_local_models = has_local_models
        self.daemons: dict[str, ChildDaemon] = {}

    def begin(self, name: str, roles: str) -> ChildDaemon:
        """Starts a daemon; see `ChildDaemon.wait_ready`."""
        settings = {
            "RAGVIGIL_STORE__URL": self._server.url,
            "RAGVIGIL_FLEET__ROLES": json.dumps(roles.split(",")),
            "RAGVIGIL_FLEET__REPLICA": name,
            "RAGVIGIL_SCORERS__PROCESSES": "0",
            "RAGVIGIL_CLUSTERING__ENABLED": "false",
            "RAGVIGIL_INFERENCE__ENABLED": str(self._has_local_models).lower(),
        }
        self.daemons[name] = start(self._folder / name, settings=settings)
        return self.daemons[name]

    def ask(self, sql: str) -> list[dict[str, Any]]:
        """Rows of a query."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._server.port}/?database={DATABASE}",
            data=f"{sql} FORMAT JSONEachRow".encode(),
        )
        with urllib.request.urlopen(request, timeout=120) as reply:
            return [json.loads(line) for line in reply.read().decode().splitlines()]

    def one(self, sql: str) -> Any:
        """The only value of a query."""
        (row,) = self.ask(sql)
        (value,) = row.values()
        return value


@contextlib.contextmanager
def fleet(
    folder: Path, edges: int, analysts: int, *, has_local_models: bool = False
) -> Iterator[Fleet]:
    """A server, edges that are ready, and analysts of which one is.

    Local models score as many answers as there is time for: with them no two runs have the same
    scores, and each edge has a third process.
    """
    with Server(folder / "server") as server:
        made = Fleet(folder, server, has_local_models=has_local_models)
        try:
            # One makes the tables before the others ask for them.
            made.begin("analyst-0", "analyst").wait_ready()
            names = [f"edge-{number}" for number in range(edges)]
            for name in names:
                made.begin(name, "edge")
            for name in names:
                made.daemons[name].wait_ready()
            for number in range(1, analysts):
                made.begin(f"analyst-{number}", "analyst")
            yield made
        finally:
            for daemon in made.daemons.values():
                for pid in pids(daemon):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGCONT)  # one that is stopped cannot end
            for daemon in made.daemons.values():
                daemon.process.terminate()
            for daemon in made.daemons.values():
                daemon.stop(60)


def pids(daemon: ChildDaemon) -> list[int]:
    """Intake and core of a daemon, those that run."""
    if daemon.process.poll() is not None:
        return []
    with contextlib.suppress(OSError, ValueError):
        return [daemon.process.pid, processes.core_pid(daemon)]
    return [daemon.process.pid]


def cpu_seconds(daemon: ChildDaemon) -> float:
    """CPU that the daemon's two processes have used."""
    return sum(map(processes.cpu_seconds, pids(daemon)))


def memory_mb(daemon: ChildDaemon) -> float:
    """Resident memory of the daemon's two processes, MB."""
    return round(sum(processes.memory_mb(pid, "VmRSS") for pid in pids(daemon)), 1)


def divided(requests: Sequence[bytes], edges: int, traces: int) -> list[list[bytes]]:
    """The requests of each edge, of `traces` answers each; `requests` have one answer each."""
    mine: list[list[bytes]] = [[] for _ in range(edges)]
    for body in requests:
        parsed = ExportTraceServiceRequest.FromString(body)
        trace_id = parsed.resource_spans[0].scope_spans[0].spans[0].trace_id
        place = int.from_bytes(hashlib.blake2b(trace_id, digest_size=8).digest()) % edges
        mine[place].append(body)
    # Serialised requests one after another are one request with all their resources.
    return [
        [b"".join(bodies[at : at + traces]) for at in range(0, len(bodies), traces)]
        for bodies in mine
    ]


def wait_until(found: Any, seconds: float, what: str) -> float:
    """Seconds until `found()` is true. Raises TimeoutError."""
    started = time.monotonic()
    while not found():
        if time.monotonic() - started > seconds:
            raise TimeoutError(what)
        time.sleep(0.25)
    return time.monotonic() - started
