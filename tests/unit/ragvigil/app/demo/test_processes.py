"""The demo's processes."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ragvigil.app.demo.processes import Child, DemoFailed, service_environment


def test_the_service_sends_to_the_demos_daemon_and_has_none_of_the_users_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    monkeypatch.setenv("HELPDESK_FAULTS", "truncation")
    environment = service_environment("http://127.0.0.1:4318")
    assert "OTEL_SDK_DISABLED" not in environment
    assert "HELPDESK_FAULTS" not in environment
    assert environment["OTEL_EXPORTER_OTLP_ENDPOINT"] == "http://127.0.0.1:4318"


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
