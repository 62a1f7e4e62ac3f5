"""HTTP to a provider that reads no more of a reply than it was told to.

Imports httpx2; only what opens a client imports this module.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator

import httpx2

from ragvigil.llm.guard import marked_trace


class ReplyTooLarge(Exception):
    """A reply has more bytes than are read, or hides how many it has."""


class BoundedTransport(httpx2.AsyncHTTPTransport):
    """Ends a reply with ReplyTooLarge as soon as it is known to have more than `most_bytes`.

    Compression is neither asked for nor read: a few of its bytes can stand for any number.
    """

    def __init__(self, most_bytes: int, limits: httpx2.Limits, chance: random.Random) -> None:
        super().__init__(limits=limits)
        self._most_bytes = most_bytes
        self._chance = chance

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends the request with the mark of our own calls; the reply's body is bounded."""
        request.headers["accept-encoding"] = "identity"
        request.headers["traceparent"] = marked_trace(self._chance)
        response = await super().handle_async_request(request)
        declared = response.headers.get("content-length", "")
        is_packed = response.headers.get("content-encoding", "identity") != "identity"
        if is_packed or (declared.isdigit() and int(declared) > self._most_bytes):
            await response.aclose()
            raise ReplyTooLarge
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Bounded(response.stream, self._most_bytes)
        return response


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, most_bytes: int) -> None:
        self._stream = stream
        self._left = most_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            self._left -= len(part)
            if self._left < 0:
                raise ReplyTooLarge
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


def bounded_client(
    *, most_bytes: int, connections: int, chance: random.Random
) -> httpx2.AsyncClient:
    """A client of its own connections; it follows no redirect, which would carry the key along."""
    limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
    return httpx2.AsyncClient(transport=BoundedTransport(most_bytes, limits, chance), timeout=None)
