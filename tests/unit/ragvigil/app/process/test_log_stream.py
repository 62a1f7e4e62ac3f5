"""A log on a full disk ends nothing, and loses no line that it has room to keep."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import pytest

from ragvigil.app.process import log_stream
from ragvigil.app.process.log_stream import LogStream
from ragvigil.app.process.tied import run_tied
from tests.patience import PATIENCE_SECONDS


class FullDisk:
    """`os.write` of a disk with `free` bytes: the last write takes a part, as a real one does."""

    def __init__(self) -> None:
        self.free = 0
        self._write = os.write

    def write(self, descriptor: int, data: bytes) -> int:
        if not self.free:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = self._write(descriptor, data[: self.free])
        self.free -= written
        return written


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> FullDisk:
    disk = FullDisk()
    monkeypatch.setattr("os.write", disk.write)
    return disk


def test_lines_wait_for_room_and_are_written_whole_and_in_order(
    tmp_path: Path, disk: FullDisk
) -> None:
    with (tmp_path / "log").open("w") as file:
        stream = LogStream(file)
        stream.write("first\n")
        disk.free = 3
        stream.write("second\n")
        assert (tmp_path / "log").read_text() == "fir"
        disk.free = 1000
        stream.write("third\n")
    assert (tmp_path / "log").read_text() == "first\nsecond\nthird\n"


def test_lines_that_wait_are_written_at_the_end_where_there_is_room_then(
    tmp_path: Path, disk: FullDisk
) -> None:
    with (tmp_path / "log").open("w") as file:
        stream = LogStream(file)
        stream.write("the last words\n")
        disk.free = 1000
        stream.flush()
    assert (tmp_path / "log").read_text() == "the last words\n"


def test_what_is_more_than_it_keeps_is_counted(
    tmp_path: Path, disk: FullDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_stream, "KEPT_BYTES", 14)
    with (tmp_path / "log").open("w") as file:
        stream = LogStream(file)
        for number in range(5):
            stream.write(f"line {number}\n")
        disk.free = 1000
        stream.write("room\n")
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines[:3] == ["line 0", "line 1", "room"]
    assert lines[3].endswith("lines=3")


def test_a_line_longer_than_what_it_keeps_is_written(
    tmp_path: Path, disk: FullDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_stream, "KEPT_BYTES", 4)
    disk.free = 1000
    with (tmp_path / "log").open("w") as file:
        LogStream(file).write("a long line\n")
    assert (tmp_path / "log").read_text() == "a long line\n"


LOGS = """
import structlog
from ragvigil.app.process.logs import configure_logs
configure_logs()
structlog.get_logger().error("the disk is full")
print("goes on")
"""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux alone has /dev/full")
def test_a_process_goes_on_when_its_log_cannot_be_written() -> None:
    shell = ["/bin/sh", "-c", '"$0" -c "$1" 2>/dev/full', sys.executable, LOGS]
    done = run_tied(shell, seconds=PATIENCE_SECONDS)
    assert (done.returncode, done.stdout) == (0, "goes on\n")
