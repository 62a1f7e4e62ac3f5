"""The kernel's account of this process's connections."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from collector.receiver.kernel import open_descriptors


def test_open_files_are_counted(tmp_path: Path) -> None:
    before = open_descriptors()
    with ExitStack() as stack:
        for number in range(20):
            stack.enter_context((tmp_path / str(number)).open("wb"))
        assert open_descriptors() - before == 20
