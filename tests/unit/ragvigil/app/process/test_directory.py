"""One daemon a data directory: the second is told who holds it; a dead one holds nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from threading import Timer

import pytest

from ragvigil.app.process.directory import DirectoryTaken, hold
from ragvigil.app.process.tied import start_tied

HOLDS = (
    "import sys, pathlib; from ragvigil.app.process.directory import hold;"
    "lock = hold(pathlib.Path(sys.argv[1]), 'daemon'); print('held', flush=True);"
    "sys.stdin.read()"
)


def holder(folder: Path) -> subprocess.Popen[str]:
    """Another process that holds the directory until its input ends."""
    process = start_tied(
        [sys.executable, "-c", HOLDS, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_the_directory_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "data"
    with hold(folder, "daemon"):
        assert folder.stat().st_mode & 0o077 == 0
        assert (folder / "daemon.lock").read_text() == str(os.getpid())


def test_a_second_daemon_is_told_who_has_it_and_what_to_do(tmp_path: Path) -> None:
    process = holder(tmp_path)
    try:
        with pytest.raises(DirectoryTaken) as found:
            hold(tmp_path, "daemon")
    finally:
        process.communicate()
    assert str(found.value) == (
        f"{tmp_path} is in use by another ragvigil daemon (process {process.pid}); "
        "stop it, or set data_dir (RAGVIGIL_DATA_DIR) to another folder"
    )


def test_the_roles_do_not_lock_each_other_out(tmp_path: Path) -> None:
    with hold(tmp_path, "daemon"), hold(tmp_path, "core"):
        assert {path.name for path in tmp_path.iterdir()} == {"daemon.lock", "core.lock"}


def test_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    process = holder(tmp_path)
    process.kill()
    process.communicate()
    with hold(tmp_path, "daemon"):
        assert (tmp_path / "daemon.lock").read_text() == str(os.getpid())


def test_the_patient_get_it_when_the_one_before_lets_go(tmp_path: Path) -> None:
    first = hold(tmp_path, "core")
    with pytest.raises(DirectoryTaken):
        hold(tmp_path, "core", 0.15)
    Timer(0.2, first.close).start()
    with hold(tmp_path, "core", 60):
        assert first.closed


def test_a_directory_that_cannot_be_made_is_said_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DirectoryTaken) as found:
        hold(tmp_path / "file" / "data", "daemon")
    assert str(found.value) == (
        f"data_dir {tmp_path}/file/data cannot be used: Not a directory; it must be a folder that "
        "ragvigil may write, or set data_dir (RAGVIGIL_DATA_DIR) to another one"
    )
