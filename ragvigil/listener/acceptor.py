"""Takes connections for one listener, within its caps, whatever the clients do."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter

import uvicorn

from ragvigil.listener.eviction import first_to_go
from ragvigil.listener.limits import Closing, ConnectionLimits, peer_of
from ragvigil.listener.mistakes import PEEKED_BYTES, Mistakes, mistake_of
from ragvigil.listener.protocol import GuardedProtocol
from ragvigil.listener.replies import bad_request
from ragvigil.listener.sparse_log import SparseLog

ACCEPTS_AT_ONCE = 16
"""Between two turns of the loop, so that connections which are open get their turn."""
SWEEP_SECONDS = 1.0
FAILED_PAUSE_SECONDS, FULL_PAUSE_SECONDS = 0.5, 0.02
LAST_SECONDS = 1.0
READ_BYTES = 64 << 10


class Acceptor:
    """The connections of one listening socket; belongs to one event loop.

    asyncio's own server has no caps, knows nothing of a connection before its TLS handshake is
    done, and writes a line of log for every accept that fails.
    """

    def __init__(
        self, server: uvicorn.Server, listening: socket.socket, limits: ConnectionLimits
    ) -> None:
        self._server = server
        self._listening = listening
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._open: set[GuardedProtocol] = set()
        self._of_peer: Counter[str] = Counter()
        self._newcomer: tuple[socket.socket, tuple[str, int]] | None = None
        self._log = SparseLog()
        self._mistakes = Mistakes(limits.name)
        self._sweeping: asyncio.Task[None] | None = None
        self._resuming: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begins to accept."""
        self._loop.add_reader(self._listening, self._accept)
        self._sweeping = asyncio.create_task(self._sweep())

    async def stop(self) -> None:
        """Accepts no more; clients get LAST_SECONDS to finish what they send, then are closed.

        uvicorn's server must be ending already: it closes the idle connections.
        """
        self._loop.remove_reader(self._listening)
        if self._resuming is not None:
            self._resuming.cancel()
        if self._newcomer is not None:
            self._newcomer[0].close()
        ends = self._loop.time() + LAST_SECONDS
        while self._loop.time() < ends and any(each.waiting() for each in self._open):
            await asyncio.sleep(0.02)
        self._close_all([each for each in self._open if each.waiting()], Closing.STOPPING)
        if self._sweeping is not None:
            self._sweeping.cancel()

    def _accept(self) -> None:
        for _ in range(ACCEPTS_AT_ONCE):
            try:
                newcomer = self._newcomer or self._listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                self._make_room()  # which gives back a descriptor
                self._log.warn(
                    "connections cannot be accepted",
                    listener=self._limits.name,
                    error=str(error),
                    open=len(self._open),
                )
                self._pause(FAILED_PAUSE_SECONDS)
                return
            self._newcomer = None
            if len(self._open) >= self._limits.most and not self._make_room():
                # All wait for us: this newcomer waits here, further ones in the kernel.
                self._newcomer = newcomer
                self._pause(FULL_PAUSE_SECONDS)
                return
            connection, address = newcomer
            self._admit(connection, peer_of(address[0]))

    def _pause(self, seconds: float) -> None:
        """Accepts nothing for a while: the socket stays readable, and the loop would spin."""
        self._loop.remove_reader(self._listening)
        self._resuming = self._loop.call_later(seconds, self._resume)

    def _resume(self) -> None:
        self._loop.add_reader(self._listening, self._accept)
        self._accept()

    def _admit(self, connection: socket.socket, peer: str) -> None:
        if self._of_peer[peer] >= self._limits.most_of(peer) and not self._make_room(peer):
            connection.close()
            self._limits.count(Closing.NO_ROOM)
            return
        protocol = GuardedProtocol(
            peer=peer,
            limits=self._limits,
            mistakes=self._mistakes,
            on_end=self._forget,
            config=self._server.config,
            server_state=self._server.server_state,
            app_state=self._server.lifespan.state,
            _loop=self._loop,
        )
        self._open.add(protocol)
        self._of_peer[peer] += 1
        self._limits.show_open(len(self._open))
        protocol.connecting = self._loop.create_task(self._connect(connection, protocol))

    async def _connect(self, connection: socket.socket, protocol: GuardedProtocol) -> None:
        connection.setblocking(False)
        try:
            if self._server.config.ssl and self._is_plain(connection, protocol.peer):
                return
            await self._loop.connect_accepted_socket(
                lambda: protocol, connection, ssl=self._server.config.ssl
            )
        except OSError:  # what a client sent was no TLS, or it is gone
            self._limits.count(Closing.BAD_HANDSHAKE)
        finally:
            protocol.connecting = None
            if protocol.transport is None:
                connection.close()
                self._forget(protocol)

    def _is_plain(self, connection: socket.socket, peer: str) -> bool:
        """Whether the first bytes, as far as they are there, are no TLS; then it is answered."""
        try:
            mistake = mistake_of(connection.recv(PEEKED_BYTES, socket.MSG_PEEK), has_tls=True)
        except BlockingIOError:
            return False
        if mistake is None:
            return False
        self._limits.count(Closing.WRONG_PROTOCOL)
        connection.recv(READ_BYTES)  # what is left unread would reset the connection
        connection.send(bad_request(self._mistakes.note(mistake, peer)))
        return True

    def _forget(self, protocol: GuardedProtocol) -> None:
        if protocol not in self._open:
            return
        self._open.remove(protocol)
        self._of_peer[protocol.peer] -= 1
        if not self._of_peer[protocol.peer]:
            del self._of_peer[protocol.peer]
        self._limits.show_open(len(self._open))

    def _make_room(self, peer: str | None = None) -> bool:
        """Closes connections whose clients keep us waiting, of `peer` or of anybody."""
        candidates = [each.waiting() for each in self._open if peer is None or each.peer == peer]
        waiting = [each for each in candidates if each is not None]
        closing = first_to_go(waiting, self._loop.time())
        self._close_all(closing, Closing.MADE_ROOM)
        return bool(closing)

    def _close_all(self, connections: list[GuardedProtocol], reason: Closing) -> None:
        for connection in connections:
            connection.close(reason)
            self._forget(connection)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            now = self._loop.time()
            for connection in list(self._open):
                reason = connection.overdue(now)
                if reason is not None:
                    self._close_all([connection], reason)
