"""Serves an ASGI application on an address, guarded against clients that only hold connections."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.config import create_ssl_context

from ragvigil.listener.acceptor import Acceptor
from ragvigil.listener.limits import ConnectionLimits
from ragvigil.listener.reloads import Reloads
from ragvigil.model.endpoint import require_authorities, require_fit, split_endpoint

BACKLOG = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """The PEM files of a listener: none without TLS, `client_ca` where clients need one too."""

    certificate: Path | None
    key: Path | None
    client_ca: Path | None = None

    def context(self) -> ssl.SSLContext | None:
        """What new connections are encrypted with; None without TLS.

        Raises ValueError, with the file's name, if it is not what the setting needs.
        """
        if self.certificate is None or self.key is None:
            return None
        require_fit(self.certificate, self.key)
        if self.client_ca is not None:
            require_authorities(self.client_ca)
        return create_ssl_context(
            certfile=self.certificate,
            keyfile=self.key,
            password=None,
            ssl_version=ssl.PROTOCOL_TLS_SERVER,
            cert_reqs=ssl.CERT_NONE if self.client_ca is None else ssl.CERT_REQUIRED,
            ca_certs=self.client_ca,
            ciphers=None,
        )


@contextlib.asynccontextmanager
async def serve(
    application: Any,
    endpoint: str,
    limits: ConnectionLimits,
    *,
    tls: Tls,
    stop_seconds: int,
    reloads: Reloads | None = None,
) -> AsyncIterator[int]:
    """Serves `application` on this event loop; yields the port.

    `reloads` reads the certificate again.

    At the end it stops accepting and lets requests in progress finish, for at most
    `stop_seconds`. Raises OSError if the address cannot be used.
    """
    config = _config(application, limits, stop_seconds)
    config.ssl = tls.context()
    if reloads is not None and config.ssl is not None:
        reloads.add(lambda: partial(setattr, config, "ssl", tls.context()))
    listening = _listen(endpoint)
    defer_accept(listening, limits.deadlines.head_seconds)
    server = _Server(config)
    # The process handles SIGTERM and SIGINT itself.
    server.capture_signals = contextlib.nullcontext  # type: ignore[assignment]
    # Without sockets: uvicorn keeps the connections that the acceptor makes, and ends them.
    serving = asyncio.create_task(server.serve(sockets=[]))
    while not server.started and not serving.done():
        await asyncio.sleep(0.005)
    acceptor = Acceptor(server, listening, limits)
    acceptor.start()
    try:
        yield listening.getsockname()[1]
    finally:
        server.end()
        await acceptor.stop()
        await serving
        listening.close()


class _Server(uvicorn.Server):
    """Wakes once a second for the date in its replies, and at once for its end.

    uvicorn's own wakes ten times a second, which is most of what an idle listener costs.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._ended = asyncio.Event()

    def end(self) -> None:
        """Stops serving; for the event loop's thread."""
        self.should_exit = True
        self._ended.set()

    async def main_loop(self) -> None:
        """Until `end`."""
        while not await self.on_tick(0):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), 1.0)


def _config(application: Any, limits: ConnectionLimits, stop_seconds: int) -> uvicorn.Config:
    config = uvicorn.Config(
        application,
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="error",  # a warning for each bad request would be a client's to write
        access_log=False,
        server_header=False,
        proxy_headers=False,  # a peer is who connects, not who a header says
        timeout_keep_alive=int(limits.deadlines.idle_seconds),
        timeout_graceful_shutdown=stop_seconds,
    )
    config.load()
    return config


def _listen(endpoint: str) -> socket.socket:
    host, port = split_endpoint(endpoint)
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listening = socket.socket(family, kind, protocol)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError:
        listening.close()
        raise
    listening.setblocking(False)
    return listening


def defer_accept(listening: socket.socket, seconds: float) -> None:
    """Asks the kernel to keep a connection to itself until the client's first bytes are there.

    Who only connects then takes no descriptor for about `seconds`. And the request of everybody
    else can be read as soon as it is accepted, before newcomers could push it out. Linux alone.
    """
    if hasattr(socket, "TCP_DEFER_ACCEPT"):
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, int(seconds))


@contextlib.contextmanager
def in_thread(
    serving: contextlib.AbstractAsyncContextManager[Any], *, name: str, stop_seconds: float
) -> Iterator[None]:
    """Holds an asynchronous context open in a thread with an event loop of its own.

    Raises what entering it raises. At the end it waits at most `stop_seconds` for the thread.
    """
    entered: concurrent.futures.Future[asyncio.AbstractEventLoop] = concurrent.futures.Future()
    stop = asyncio.Event()

    async def hold() -> None:
        try:
            async with serving:
                entered.set_result(asyncio.get_running_loop())
                await stop.wait()
        except BaseException as error:
            if entered.done():
                raise
            entered.set_exception(error)

    thread = threading.Thread(target=lambda: asyncio.run(hold()), name=name, daemon=True)
    thread.start()
    loop = entered.result()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(stop_seconds)
