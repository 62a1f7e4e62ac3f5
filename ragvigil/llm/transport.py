"""An HTTP client that limits the bytes of a reply.

Imports httpx2; only what opens a client imports this module.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator

import httpx2

from ragvigil.llm.guard import marked_trace


class ReplyTooLarge(Exception):
    """A reply has more bytes than the limit, or is compressed and hides how many it has."""


def bounded_client(
    *, most_bytes: int, connections: int, chance: random.Random, use_proxies: bool
) -> httpx2.AsyncClient:
    """A client whose replies end with ReplyTooLarge at the first byte over `most_bytes`.

    Compression is neither requested nor read: a few compressed bytes can stand for any number.
    Redirects are not followed: they would carry the key along. `use_proxies`: those of the
    environment, often the only way out. Every request carries the mark of our own calls (`guard`).
    """

    async def mark(request: httpx2.Request) -> None:
        request.headers["accept-encoding"] = "identity"
        request.headers["traceparent"] = marked_trace(chance)

    async def bound(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise ReplyTooLarge
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _BoundedStream(response.stream, most_bytes)

    return httpx2.AsyncClient(
        event_hooks={"request": [mark], "response": [bound]},
        limits=httpx2.Limits(max_connections=connections, max_keepalive_connections=connections),
        timeout=None,
        trust_env=use_proxies,
    )


class _BoundedStream(httpx2.AsyncByteStream):
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
