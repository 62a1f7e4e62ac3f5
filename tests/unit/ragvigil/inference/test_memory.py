"""Memory is told as the system counts it, and given back where it is free."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import pytest

from ragvigil.inference.memory import resident_bytes

HOLES = """
import os
from ragvigil.inference.memory import give_back, resident_bytes
blocks = [bytearray(4000) for _ in range(20_000)]
kept = blocks[::100]
del blocks
before = resident_bytes(os.getpid())
give_back()
print(before - resident_bytes(os.getpid()))
"""


def test_this_process_takes_some_memory_and_one_that_is_gone_takes_none() -> None:
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"],
                          capture_output=True, check=True)  # fmt: skip
    assert resident_bytes(os.getpid()) > 1 << 20
    assert resident_bytes(int(gone.stdout)) == 0


@pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library cannot give back"
)
def test_memory_between_what_is_still_used_is_given_back() -> None:
    command = [sys.executable, "-c", HOLES]
    done = subprocess.run(command, capture_output=True, check=True)
    assert int(done.stdout) > 40 << 20
