"""A child process that ends with its parent, however the parent ends.

Run as a program, `parent.py PID COMMAND ...` becomes COMMAND, tied to the process PID that started
it: see `start_tied`. It imports little, so that this takes some milliseconds.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def end_with_parent(parent: int) -> None:
    """Makes the kernel kill this process when the process `parent`, which started it, ends.

    A thread that waits for the parent's end would not do: native code may hold the interpreter for
    ever. Elsewhere than on Linux it does nothing.
    """
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError, AttributeError):  # a C library without it
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it has ended since it started this process
        os._exit(1)


if __name__ == "__main__":
    end_with_parent(int(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])
