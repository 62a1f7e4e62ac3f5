"""Reads the body of an HTTP request over ASGI, with a limit of size, or discards it.

How long a client may take is the listener's business (`ragvigil.listener.protocol`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from collector.receiver.budget import Hold, giving_way
from collector.refusal import TooLarge

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

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

        Raises TooLarge beyond `limit`, Refused (OVERLOADED), ClientGone.
        """
        pieces: list[bytes] = []
        total = 0
        async with giving_way(hold):
            while not self.is_over:
                piece = await self._piece()
                total += len(piece)
                if total > limit:
                    raise TooLarge(f"the body is larger than {limit} bytes")
                hold.grow(len(piece))
                pieces.append(piece)
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
