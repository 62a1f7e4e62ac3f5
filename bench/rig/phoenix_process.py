"""Arize Phoenix in its own virtual environment, as the peer of the ingest benchmark."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import httpx2

from bench.rig.report import progress
from ragvigil.app.demo.child_daemon import free_port
from ragvigil.app.process.tied import start_tied

START_SECONDS, STORE_SECONDS = 120, 600


def phoenix_rate(venv: Path, requests: list[bytes]) -> float:
    """Spans a second from the first request to the last span in Phoenix's database (SQLite)."""
    with tempfile.TemporaryDirectory() as folder:
        http, grpc = free_port(), free_port()
        environment = os.environ | {
            "PHOENIX_WORKING_DIR": folder,
            "PHOENIX_PORT": str(http),
            "PHOENIX_GRPC_PORT": str(grpc),
            "PHOENIX_HOST": "127.0.0.1",
        }
        process = start_tied(
            [str(venv / "bin" / "phoenix"), "serve"],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            base = f"http://127.0.0.1:{http}"
            _wait(
                lambda: httpx2.get(f"{base}/healthz", timeout=5).status_code == 200, START_SECONDS
            )
            return _rate(base, requests)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def _rate(base: str, requests: list[bytes]) -> float:
    from bench.rig.otlp_requests import SPANS

    expected = SPANS * len(requests)
    started = time.perf_counter()
    with httpx2.Client(timeout=60) as client:
        for body in requests:
            while True:
                reply = client.post(
                    f"{base}/v1/traces",
                    content=body,
                    headers={"content-type": "application/x-protobuf"},
                )
                if reply.status_code == 200:
                    break
                time.sleep(0.2)
        _wait(lambda: _stored(client, base) >= expected, STORE_SECONDS)
    seconds = time.perf_counter() - started
    progress(f"phoenix stored {expected} spans in {seconds:.1f} s")
    return expected / seconds


def _stored(client: httpx2.Client, base: str) -> int:
    query = "{ projects { edges { node { recordCount } } } }"
    reply = client.post(f"{base}/graphql", json={"query": query}).json()
    return sum(edge["node"]["recordCount"] for edge in reply["data"]["projects"]["edges"])


def _wait(is_done: object, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    assert callable(is_done)
    while True:
        try:
            if is_done():
                return
        except (httpx2.HTTPError, KeyError, ValueError) as error:
            progress(f"phoenix is not there yet: {type(error).__name__}")
        if time.monotonic() > deadline:
            raise TimeoutError("phoenix did not finish in time")
        time.sleep(0.5)
