"""Reads the body of an HTTP request over ASGI, with a limit of size and time, or discards it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from collector.receiver.budget import Hold
from collector.refusal import Refusal, Refused, TooLarge

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

BODY_SECONDS = 30.0
DRAIN_SECONDS, DRAIN_BYTES = 3.0, 64 << 20  # beyond these the connection is just closed


class ClientGone(Exception):
    """The connection closed before the body was complete."""


class IncomingBody:
    """One request's body; `is_over` once all of it has been read."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.is_over = False

    async def read(self, limit: int, hold: Hold) -> bytes:
        """Reads the whole body and counts it in the byte budget as it arrives.

        Raises TooLarge beyond `limit`, Refused (SLOW, OVERLOADED), ClientGone.
        """
        pieces: list[bytes] = []
        total = 0
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while not self.is_over:
                    piece = await self._piece()
                    total += len(piece)
                    if total > limit:
                        raise TooLarge(f"the body is larger than {limit} bytes")
                    # The declared length is in the budget already; only what exceeds it is added.
                    hold.grow(max(0, total - hold.taken))
                    pieces.append(piece)
        except TimeoutError as error:
            raise Refused(Refusal.SLOW, f"the body took over {BODY_SECONDS:.0f} s") from error
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    async def drain(self) -> None:
        """Discards the rest of the body, up to DRAIN_SECONDS and DRAIN_BYTES.

        Many clients do not read a response before they have sent everything.
        """
        total = 0
        try:
            async with asyncio.timeout(DRAIN_SECONDS):
                while not self.is_over and total < DRAIN_BYTES:
                    total += len(await self._piece())
        except (TimeoutError, ClientGone):
            return

    async def _piece(self) -> bytes:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        self.is_over = not message.get("more_body", False)
        return bytes(message.get("body", b""))
