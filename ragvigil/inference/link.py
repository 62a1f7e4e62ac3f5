"""A child process and the socket to it: one request at a time, with limits of time and memory."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ragvigil.inference.memory import resident_bytes
from ragvigil.inference.outcome import Reason
from ragvigil.inference.process_priority import thread_limits
from ragvigil.model.wire import BadFrame, pack, unpack

CHECK_SECONDS = 0.25
"""How often the memory of a computing child is checked."""
REAP_SECONDS = 5.0


class Lost(Exception):
    """The child is gone or must be ended; `reason` is CRASHED, TIMED_OUT or TOO_LARGE."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The timeout of one answer, and the most memory that the child may use."""

    patience_seconds: float
    memory_bytes: int


class Link:
    """A running child. Only `end` may be called from another thread.

    Raises Lost if the system does not start a process.
    """

    def __init__(self, threads: int, clock: Callable[[], float]) -> None:
        self._clock = clock
        try:
            self._channel, theirs = socket.socketpair()
        except OSError as error:
            raise _not_started(error) from error
        with theirs:
            self._process = self._spawned(theirs, threads)

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    def ask(self, request: Mapping[str, object], limits: Limits) -> tuple[dict[str, Any], bytes]:
        """The child's answer. Raises Lost, after which the link cannot be used any more."""
        deadline = self._clock() + limits.patience_seconds
        try:
            self._channel.settimeout(limits.patience_seconds)
            self._channel.sendall(pack(request))
            return unpack(lambda count: self._read(count, deadline, limits.memory_bytes))
        except TimeoutError as error:
            late = f"the model gave no answer within {limits.patience_seconds:g} s"
            raise Lost(Reason.TIMED_OUT, late) from error
        except (OSError, EOFError, BadFrame) as error:
            raise Lost(
                Reason.CRASHED, f"the model process ended: {self._how_it_ended()}"
            ) from error

    def end(self) -> None:
        """Kills the child; a call that waits for its answer raises Lost."""
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):  # killed, not yet reaped
            self._process.wait(REAP_SECONDS)

    def hang_up(self) -> None:
        """Closes the socket; call it after `end`."""
        self._channel.close()

    def _spawned(self, theirs: socket.socket, threads: int) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                (sys.executable, "-m", "ragvigil.inference.child", str(theirs.fileno())),
                pass_fds=(theirs.fileno(),),
                env=os.environ | thread_limits(threads),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            self._channel.close()
            raise _not_started(error) from error

    def _read(self, count: int, deadline: float, memory_bytes: int) -> bytes:
        received = bytearray()
        while len(received) < count:
            seconds = deadline - self._clock()
            if seconds <= 0:
                raise TimeoutError
            self._channel.settimeout(min(seconds, CHECK_SECONDS))
            try:
                block = self._channel.recv(min(count - len(received), 1 << 20))
            except TimeoutError:
                self._check_memory(memory_bytes)
                continue
            if not block:
                raise EOFError
            received += block
        return bytes(received)

    def _check_memory(self, memory_bytes: int) -> None:
        used = resident_bytes(self.pid)
        if used > memory_bytes:
            raise too_large(used, memory_bytes)

    def _how_it_ended(self) -> str:
        """How the child ended, as text for people."""
        try:
            status = self._process.wait(REAP_SECONDS)
        except subprocess.TimeoutExpired:
            return "it hung up"
        return f"signal {-status}" if status < 0 else f"status {status}"


def _not_started(error: OSError) -> Lost:
    return Lost(Reason.CRASHED, f"the model process does not start: {error}")


def too_large(used: int, memory_bytes: int) -> Lost:
    """The error of a child that uses more memory than it may; both in bytes."""
    used_mb, most_mb = used >> 20, memory_bytes >> 20
    detail = f"the model process took {used_mb} MB, more than the {most_mb} MB it may"
    return Lost(Reason.TOO_LARGE, detail)
