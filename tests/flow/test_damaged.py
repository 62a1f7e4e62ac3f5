"""A daemon whose store or spool cannot be used says in one sentence what to do."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import httpx2
import pytest

from ragvigil.app.demo.child_daemon import ChildDaemon, start
from ragvigil.app.process.tied import run_tied
from tests.otlp import trace_request
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow


def readiness(daemon: ChildDaemon) -> tuple[int, str]:
    """Status and body of `/readyz`; 0 while nothing listens."""
    try:
        reply = httpx2.get(f"http://{daemon.metrics}/readyz", timeout=PATIENCE_SECONDS)
    except httpx2.TransportError:
        return 0, ""
    return reply.status_code, reply.text


def wait_for_reason(daemon: ChildDaemon, words: str) -> str:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while words not in (text := readiness(daemon)[1]) and time.monotonic() < deadline:
        time.sleep(0.1)
    return text


def test_a_store_that_does_not_open_stops_the_core_alone(tmp_path: Path) -> None:
    (tmp_path / "store").touch()
    daemon = start(tmp_path, settings={"RAGVIGIL_INFERENCE__ENABLED": "false"})
    try:
        sentence = wait_for_reason(daemon, "does not open")
        assert sentence.startswith(f"the store {tmp_path}/store does not open: ")
        assert len(sentence.splitlines()) == 1
        reply = httpx2.post(
            f"http://{daemon.http}/v1/traces",
            content=trace_request().SerializeToString(),
            headers={"content-type": "application/x-protobuf"},
            timeout=PATIENCE_SECONDS,
        )
        assert reply.status_code == 200, "the spool takes spans meanwhile"
        (tmp_path / "store").unlink()
        daemon.wait_ready(PATIENCE_SECONDS)
        log = (tmp_path / "daemon.log").read_text()
        assert log.count("the core cannot start") == 1
        assert "Traceback" not in log
        deadline = time.monotonic() + PATIENCE_SECONDS
        while daemon.get("ledger")["spans"]["in_spool"] and time.monotonic() < deadline:
            time.sleep(0.2)
        assert daemon.get("ledger")["spans"]["stored"] == 1
    finally:
        daemon.stop()


def test_a_spool_that_is_no_folder_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "spool").touch()
    ended = run_tied(
        [sys.executable, "-m", "ragvigil.app.daemon"],
        seconds=PATIENCE_SECONDS,
        env=os.environ
        | {"RAGVIGIL_DATA_DIR": str(tmp_path)}
        | {f"RAGVIGIL_{name}__ENDPOINT": "127.0.0.1:0" for name in ("METRICS", "WEB")}
        | {f"RAGVIGIL_COLLECTOR__{name}_ENDPOINT": "127.0.0.1:0" for name in ("GRPC", "HTTP")},
    )
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1] == (
        f"the spool {tmp_path}/spool cannot be used: File exists; it must be a folder that "
        "ragvigil may list and write, or set data_dir (RAGVIGIL_DATA_DIR) to another one"
    )
    assert "Traceback" not in ended.stderr
