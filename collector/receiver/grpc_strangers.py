"""Notices clients of the gRPC port that speak something else: HTTP/1.1, TLS to a port without.

gRPC ends such a connection, and says so nowhere; what it sent is gone by then. But the kernel tells
that a client came and sent something, and a client that has left without a call spoke no gRPC.
"""

from __future__ import annotations

import asyncio
import contextlib
import select
import time
from collections.abc import Callable

from collector.receiver.kernel import accepted_on, listen_with
from ragvigil.listener.limits import Closing, ConnectionLimits
from ragvigil.listener.mistakes import Mistake, Mistakes

QUIET_SECONDS = 0.5
"""While others make calls nobody can tell whose they are: nothing is noticed then."""
PAUSE_SECONDS = 5.0


class Strangers:
    """Belongs to one event loop. `has_called` tells of a connection whether it made a call."""

    def __init__(self, limits: ConnectionLimits, has_called: Callable[[str], bool]) -> None:
        self._limits, self._has_called = limits, has_called
        self._mistakes = Mistakes(limits.name)
        self._called_at = 0.0
        self._came = asyncio.Event()

    def called(self) -> None:
        """Tells that some client made a call."""
        self._called_at = time.monotonic()

    async def watch(self, port: int) -> None:
        """Counts and logs strangers until cancelled. Linux alone."""
        if not hasattr(select, "epoll"):
            return
        loop = asyncio.get_running_loop()
        with contextlib.closing(select.epoll()) as arrivals:
            # With edges: a connection that gRPC does not accept at once must not keep us awake.
            edges = select.EPOLLIN | select.EPOLLET
            listen_with(port, lambda listening: arrivals.register(listening.fileno(), edges))
            loop.add_reader(arrivals.fileno(), self._note, arrivals)
            try:
                while True:
                    await self._next(port)
            finally:
                loop.remove_reader(arrivals.fileno())

    def _note(self, arrivals: select.epoll) -> None:
        arrivals.poll(0)  # takes the edge
        self._came.set()

    async def _next(self, port: int) -> None:
        """Waits for the next client, and notes it if it has left and nobody made a call."""
        await self._came.wait()
        came_at = time.monotonic()
        await asyncio.sleep(QUIET_SECONDS)
        self._came.clear()
        if self._called_at > came_at - QUIET_SECONDS:
            return
        connections = await asyncio.to_thread(accepted_on, port)
        if all(self._has_called(each.peer) for each in connections):
            self._limits.count(Closing.WRONG_PROTOCOL)
            self._mistakes.note(Mistake.NO_GRPC, "unknown")
        await asyncio.sleep(PAUSE_SECONDS)
        self._came.clear()  # who came meanwhile may have made a call, and left, long ago
