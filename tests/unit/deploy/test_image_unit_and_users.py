"""The image by hadolint, the systemd unit by systemd itself, ClickHouse's users by its parser."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.store import Store
from tests.deploy_files import DEPLOY, text

HADOLINT = Path(sys.executable).with_name("hadolint")
MOST_EXPOSED = 20
"""Tenths of systemd's measure of exposure, 0 to 100; a unit without sandboxing has 96."""


def run(*command: object) -> str:
    """What a command prints; it must succeed."""
    parts = [str(part) for part in command]
    done = subprocess.run(parts, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_hadolint_has_nothing_against_the_image() -> None:
    assert run(HADOLINT, DEPLOY / "Dockerfile") == ""


def test_hadolint_would_say_so(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM python\nRUN cd /tmp\n")
    done = subprocess.run(
        [HADOLINT, tmp_path / "Dockerfile"], capture_output=True, text=True, check=False
    )
    assert "DL3006" in done.stdout


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze here")
def test_the_unit_is_confined() -> None:
    unit = DEPLOY / "systemd/ragvigil.service"
    run(
        "systemd-analyze", "security", "--offline=true", "--no-pager",
        f"--threshold={MOST_EXPOSED}", unit,
    )  # fmt: skip


def test_the_unit_reloads_and_stops_as_the_daemon_does() -> None:
    unit = text("systemd/ragvigil.service")
    assert "\nExecReload=/bin/kill -HUP $MAINPID\n" in unit
    (seconds,) = re.findall(r"^TimeoutStopSec=(\d+)$", unit, flags=re.M)
    assert int(seconds) > 25
    (folder,) = re.findall(r"--data-dir /var/lib/(\w+)", unit)
    assert f"\nStateDirectory={folder}\n" in unit


def statements() -> list[str]:
    """The statements of users.sql, comments left out."""
    lines = [line for line in text("clickhouse/users.sql").splitlines() if line[:2] != "--"]
    return [part.strip() for part in "\n".join(lines).split(";") if part.strip()]


def test_clickhouse_understands_every_statement_about_users(store: Store) -> None:
    def formatted(client: object) -> list[str]:
        asked = "SELECT formatQuery({statement:String})"
        return [
            client.query(asked, parameters={"statement": each}).result_rows[0][0]  # type: ignore[attr-defined]
            for each in statements()
        ]

    assert len(store._ask("format", formatted, Priority.SCAN)) == 9


def test_the_writer_may_erase_and_drop_nothing_and_the_reader_only_read() -> None:
    grants = {each.rpartition(" ")[2]: each for each in statements() if "ragvigil.* TO" in each}
    assert "ALTER DELETE, ALTER UPDATE" in grants["ragvigil_writer"]
    assert "DROP" not in grants["ragvigil_writer"]
    assert "CREATE" not in grants["ragvigil_writer"]
    assert grants["ragvigil_reader"] == "GRANT SELECT ON ragvigil.* TO ragvigil_reader"
