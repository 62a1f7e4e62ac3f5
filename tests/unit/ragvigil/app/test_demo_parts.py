"""The demo's processes and ports."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

import pytest

from ragvigil.app.demo_parts import (
    PREFERRED,
    Child,
    DemoFailed,
    daemon_environment,
    free_ports,
)


def test_a_taken_port_is_replaced_by_a_free_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        busy = taken.getsockname()[1]
        monkeypatch.setitem(PREFERRED, "web", busy)
        ports = free_ports()
    assert ports.web != busy
    assert ports.moved()["web"] == ports.web


def test_the_daemon_gets_the_demos_settings_and_none_of_the_users(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RAGVIGIL_JUDGE__MODEL", "mine")
    environment = daemon_environment(free_ports(), tmp_path)
    assert "RAGVIGIL_JUDGE__MODEL" not in environment
    assert environment["RAGVIGIL_DATA_DIR"] == str(tmp_path)
    assert environment["RAGVIGIL_WEB__ENDPOINT"].startswith("127.0.0.1:")


def test_a_child_that_ends_early_is_reported_with_the_end_of_its_log(tmp_path: Path) -> None:
    child = Child(
        ["-c", "print('no such table'); raise SystemExit(3)"],
        env=os.environ,
        cwd=tmp_path,
        log=tmp_path / "daemon.log",
    )
    with pytest.raises(DemoFailed, match=r"(?s)daemon ended with code 3.*no such table"):
        child.wait_for("http://127.0.0.1:9/readyz", seconds=20, sleep=time.sleep)


def test_a_child_is_gone_when_its_block_ends(tmp_path: Path) -> None:
    command = ["-c", "import os, time; print(os.getpid(), flush=True); time.sleep(600)"]
    log = tmp_path / "service.log"
    with Child(command, env=os.environ, cwd=tmp_path, log=log):
        while not (text := log.read_text()).endswith("\n"):
            time.sleep(0.05)
    with pytest.raises(ProcessLookupError):
        os.kill(int(text), 0)
