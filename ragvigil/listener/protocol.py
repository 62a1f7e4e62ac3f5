"""uvicorn's HTTP protocol, which waits for no client longer than the deadlines allow.

uvicorn itself has one timer, for the pause between two requests, and every byte cancels it: half a
header, or a body of one byte a minute, holds a connection for ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from enum import Enum, auto
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ragvigil.listener.eviction import GRACE_SECONDS, Waiting
from ragvigil.listener.limits import Closing, ConnectionLimits
from ragvigil.listener.mistakes import Mistake, Mistakes, mistake_of
from ragvigil.listener.replies import GrpcRefusal, PlainRefusal

MAX_HEAD_BYTES = 64 << 10
"""Of a request's header; one that arrives in a single piece may be larger."""
TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class Part(Enum):
    """What a connection is at: the client has the turn, except in ANSWER."""

    HEAD = auto()
    BODY = auto()
    ANSWER = auto()
    IDLE = auto()


class TrackedProtocol(HttpToolsProtocol):
    """uvicorn's protocol, which also notes what its client is at, and since when."""

    def __init__(self, **uvicorn: Any) -> None:
        super().__init__(**uvicorn)
        self._is_heard = self._is_proven = False
        self._part = Part.HEAD
        self._began_at = self._heard_at = self.loop.time()  # of the part, of the last byte
        self._write_paused_at: float | None = None
        self._head_bytes = 0
        # Of the body, since `_checked_at`: a stalled one brings too few.
        self._body_bytes, self._checked_at = 0, 0.0

    def data_received(self, data: bytes) -> None:
        self._heard_at, self._is_heard = self.loop.time(), True
        super().data_received(data)
        if self._part is Part.HEAD:
            self._head_bytes += len(data)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head_bytes = 0
        if self._part is not Part.HEAD:  # the time of the first head counts from the accept
            self._next(Part.HEAD)

    def on_headers_complete(self) -> None:
        self._next(Part.BODY)
        self._checked_at, self._body_bytes = self._began_at, 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._next(Part.ANSWER if self._is_answering() else Part.IDLE)

    def on_response_complete(self) -> None:
        # Half a request that was answered at once, by "not found" say, proves nothing.
        self._is_proven = self._is_proven or self._part is Part.ANSWER
        super().on_response_complete()
        if self._part is Part.ANSWER and not self._is_answering():
            self._next(Part.IDLE)

    def pause_writing(self) -> None:
        self._write_paused_at = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._write_paused_at = None
        super().resume_writing()

    def _next(self, part: Part) -> None:
        self._part, self._began_at = part, self.loop.time()

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete


class GuardedProtocol(TrackedProtocol):
    """One connection, from its accept to its end; `on_end` is called with itself.

    `connecting` is the task that ends when the TLS handshake is done, if there is one.
    """

    connecting: asyncio.Task[None] | None = None

    def __init__(
        self,
        *,
        peer: str,
        limits: ConnectionLimits,
        mistakes: Mistakes,
        on_end: Callable[[GuardedProtocol], None],
        **uvicorn: Any,
    ) -> None:
        super().__init__(**uvicorn)
        self.peer = peer
        self._limits = limits
        self._mistakes = mistakes
        self._refusal: GrpcRefusal | PlainRefusal | None = None
        self._on_end = on_end

    def waiting(self) -> Waiting[GuardedProtocol] | None:
        """Itself while the client has the turn, None while we have it."""
        since = self._write_paused_at
        if since is None and (self._is_our_turn() or self._is_unread()):
            return None
        since = self._heard_at if since is None else since
        return Waiting(connection=self, peer=self.peer, since=since, is_proven=self._is_proven)

    def overdue(self, now: float) -> Closing | None:
        """Why to close it; None while the client is within its deadlines."""
        allowed, waited = self._limits.deadlines, now - self._began_at
        if self._write_paused_at is not None:
            paused = now - self._write_paused_at
            return Closing.SLOW_READER if paused > allowed.send_seconds else None
        if self._is_our_turn():
            self._checked_at, self._body_bytes = now, 0  # what is missing, we did not read
            return None
        if self._part is Part.IDLE:
            return Closing.IDLE if waited > allowed.idle_seconds else None
        if self._part is Part.BODY:
            is_late = waited > allowed.body_seconds or self._is_stalled(now)
            return Closing.SLOW_BODY if is_late else None
        late = Closing.SLOW_HANDSHAKE if self.transport is None else Closing.SLOW_HEADER
        return late if waited > allowed.head_seconds else None

    def close(self, reason: Closing) -> None:
        """Ends and counts the connection at once; a request that comes too slowly is told 408."""
        self._limits.count(reason)
        if self.transport is None:
            if self.connecting is not None:
                self.connecting.cancel()
            return
        is_late = reason in (Closing.SLOW_HEADER, Closing.SLOW_BODY) and self._refusal is None
        if is_late and not (self.cycle is not None and self.cycle.response_started):
            self.transport.write(TIMED_OUT)
        # `close` would wait until the client has read what is left to send.
        self.transport.abort()

    def _is_our_turn(self) -> bool:
        if self.transport is None:
            return False
        # The client waits for our "100 Continue" before it sends its body.
        is_awaited = self._is_answering() and bool(self.cycle.waiting_for_100_continue)
        return self._part is Part.ANSWER or self.flow.read_paused or is_awaited

    def _is_unread(self) -> bool:
        """Whether its first bytes may lie in the kernel, and we did not come to read them."""
        return not self._is_heard and self.loop.time() - self._began_at < GRACE_SECONDS

    def _is_stalled(self, now: float) -> bool:
        allowed, seconds = self._limits.deadlines, now - self._checked_at
        if seconds < allowed.stall_seconds:
            return False
        is_stalled = self._body_bytes < seconds * allowed.body_bytes_per_second
        self._checked_at, self._body_bytes = now, 0
        return is_stalled

    # What uvicorn calls for bytes that are no HTTP/1.1.

    def send_400_response(self, _msg: str) -> None:
        self._limits.count(Closing.BAD_REQUEST)
        super().send_400_response(self._mistakes.note(Mistake.NO_HTTP, self.peer))

    # What asyncio calls.

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._on_end(self)

    def data_received(self, data: bytes) -> None:
        if not self._is_heard and (mistake := mistake_of(data, has_tls=False)):
            self._limits.count(Closing.WRONG_PROTOCOL)
            sentence = self._mistakes.note(mistake, self.peer)
            is_grpc = mistake is Mistake.GRPC
            self._refusal = GrpcRefusal(sentence) if is_grpc else PlainRefusal(sentence)
        if self._refusal is not None:
            self._is_heard = True
            self._answer(self._refusal, data)
            return
        super().data_received(data)
        if self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.close(Closing.LARGE_HEADER)

    def _answer(self, refusal: GrpcRefusal | PlainRefusal, data: bytes) -> None:
        """Sends what a refused client is told, and then the end of the stream."""
        reply = refusal.receive(data)
        if not reply or self.transport.is_closing():
            return
        self.transport.write(reply)
        if not refusal.is_over:
            return
        # Not `close`: it would reset the connection, and the reply with it, if more comes in.
        if self.transport.can_write_eof():
            self.transport.write_eof()
        else:
            self.transport.close()
