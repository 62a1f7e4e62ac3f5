"""One daemon a data directory: the second is told who holds it; a dead one holds nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from threading import Timer

import pytest

from ragvigil.app.process import directory
from ragvigil.app.process.directory import DirectoryTaken, hold, say_stopping, take_over
from ragvigil.app.process.tied import start_tied
from tests.patience import PATIENCE_SECONDS

HOLDS = (
    "import sys, pathlib; from ragvigil.app.process.directory import hold;"
    "lock = hold(pathlib.Path(sys.argv[1]), sys.argv[2]); print('held', flush=True);"
    "sys.stdin.read()"
)


def holder(folder: Path, role: str = "daemon") -> subprocess.Popen[str]:
    """Another process that holds the directory until its input ends."""
    process = start_tied(
        [sys.executable, "-c", HOLDS, str(folder), role],
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


def test_a_new_daemon_waits_for_the_core_of_one_that_was_killed_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    core = holder(tmp_path, "core")
    Timer(0.5, core.kill).start()
    with take_over(tmp_path):
        assert core.wait(PATIENCE_SECONDS)
    core.communicate()
    said = capsys.readouterr().out
    assert "waiting for the last core to end" in said
    assert str(core.pid) in said


def test_a_new_daemon_waits_for_one_that_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory, "DYING_SECONDS", 0.0)
    last = hold(tmp_path, "daemon")
    with pytest.raises(DirectoryTaken):
        take_over(tmp_path)
    say_stopping(last)
    Timer(0.3, last.close).start()
    with take_over(tmp_path):
        assert last.closed


def test_a_core_that_never_ends_is_named_and_the_daemon_gives_the_directory_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory, "PREDECESSOR_SECONDS", 0.1)
    with hold(tmp_path, "core"):
        with pytest.raises(DirectoryTaken, match=f"another ragvigil core .process {os.getpid()}"):
            take_over(tmp_path)
        hold(tmp_path, "daemon").close()
