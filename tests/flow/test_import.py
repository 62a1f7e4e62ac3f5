"""`ragvigil import` against a running daemon: counted, resumed, never twice."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragvigil.app.child_daemon import ChildDaemon, running
from tests.unit.ragvigil.app.test_import_collector_file import line, request

REQUESTS = 5
"""Few enough for the file to be shorter than what names it: it grows all the same."""


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChildDaemon]:
    with running(tmp_path_factory.mktemp("import")) as started:
        yield started


def run(daemon: ChildDaemon, path: Path, *options: str) -> tuple[int, Any, str]:
    done = subprocess.run(
        [sys.executable, "-m", "ragvigil.app.cli", "import", str(path), "--json",
         "--endpoint", f"http://{daemon.http}", *options],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


def stored(daemon: ChildDaemon) -> int:
    return int(daemon.get("ledger")["spans"]["stored"])


def test_a_file_is_imported_once_however_often_it_is_asked(
    daemon: ChildDaemon, tmp_path: Path
) -> None:
    path = tmp_path / "traces.json"
    path.write_bytes(b"".join(line(request(number)) for number in range(REQUESTS)))
    code, told, _ = run(daemon, path, "--dry-run")
    assert (code, told["items"]) == (0, 2 * REQUESTS)
    assert not path.with_name("traces.json.ragvigil-import.json").exists()
    code, told, _ = run(daemon, path)
    assert (code, told["items"], told["bytes"]) == (0, 2 * REQUESTS, path.stat().st_size)
    with path.open("ab") as file:
        file.write(line(request(REQUESTS)))
    code, told, _ = run(daemon, path)
    assert (code, told["items"]) == (0, 2 * REQUESTS + 2)
    deadline = time.monotonic() + 60
    while stored(daemon) < 2 * REQUESTS + 2 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert daemon.get("ledger")["spans"]["acknowledged"] == 2 * REQUESTS + 2
    assert stored(daemon) == 2 * REQUESTS + 2


def test_a_note_of_another_file_is_refused_in_one_line(daemon: ChildDaemon, tmp_path: Path) -> None:
    path, note = tmp_path / "other.json", tmp_path / "note.json"
    path.write_bytes(line(request(99)))
    note.write_text('{"head": "00", "head_bytes": 9, "offset": 7}', encoding="utf-8")
    code, _, error = run(daemon, path, "--state", str(note))
    assert code == 2
    assert error.strip() == f"{note}: is of another file; remove it to begin anew"
