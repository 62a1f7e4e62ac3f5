"""A listener with short deadlines, and clients on real sockets that try to hold it."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge

from ragvigil.listener import acceptor
from ragvigil.listener.limits import Closing, ConnectionCounts, ConnectionLimits, Deadlines
from ragvigil.listener.serve import Tls, in_thread, serve
from tests.certificates import self_signed

PLAIN = Tls(certificate=None, key=None)
SHORT = Deadlines(
    head_seconds=1,
    body_seconds=4,
    stall_seconds=1,
    body_bytes_per_second=100,
    send_seconds=1,
    idle_seconds=2,
)
HEAD = b"POST /path HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n"
GET = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"
RESET = b"reset"
PATIENCE = 60.0
"""Far beyond every deadline above: a test ends when the listener acts."""


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Reads the body and says how long it was; `/large` is answered with 64 MiB."""
    length, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        length, more = length + len(message.get("body", b"")), message.get("more_body", False)
    body = bytes(64 << 20) if scope["path"] == "/large" else str(length).encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    for start in range(0, len(body), 1 << 16):
        piece = body[start : start + (1 << 16)]
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


class Served:
    """A running listener and what it counted."""

    def __init__(self, port: int, counts: ConnectionCounts) -> None:
        self.port = port
        self._counts = counts

    async def connect(self, sent: bytes = b"") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A new connection, and `sent` on it: the kernel shows none that sent nothing."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(sent)
        return reader, writer

    def closed(self, reason: Closing) -> int:
        """How many connections were closed for this reason."""
        return int(self._counts.closed.labels(listener="test", reason=reason.value)._value.get())

    @property
    def open(self) -> int:
        """Connections open now."""
        return int(self._counts.open.labels(listener="test")._value.get())


def limits(most: int = 100, deadlines: Deadlines = SHORT) -> ConnectionLimits:
    registry = CollectorRegistry()
    counts = ConnectionCounts(
        open=Gauge("open", "open", ["listener"], registry=registry),
        closed=Counter("closed", "closed", ["listener", "reason"], registry=registry),
    )
    return ConnectionLimits(name="test", most=most, counts=counts, deadlines=deadlines)


@contextlib.asynccontextmanager
async def served(
    app: Any = application, *, most: int = 100, tls: Tls = PLAIN, deadlines: Deadlines = SHORT
) -> AsyncIterator[Served]:
    """A listener on a free port."""
    given = limits(most, deadlines)
    async with serve(app, "127.0.0.1:0", given, tls=tls, stop_seconds=1) as port:
        yield Served(port, given.counts)


async def until(condition: Callable[[], bool]) -> None:
    """Waits for a condition."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.02)


async def rest(reader: asyncio.StreamReader) -> bytes:
    """What comes until the listener closes the connection.

    A client that is still sending then may lose the answer: the kernel resets the connection.
    """
    async with asyncio.timeout(PATIENCE):
        with contextlib.suppress(ConnectionResetError):
            return await reader.read()
        return RESET


async def trickle(writer: asyncio.StreamWriter, piece: bytes) -> None:
    """Sends a piece ten times a second until the connection is closed."""
    with contextlib.suppress(ConnectionError):
        while not writer.is_closing():
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.1)


@pytest.mark.parametrize("sent", [b"", b"GET / HT", HEAD[:-2]])
async def test_a_header_that_does_not_end_ends_the_connection(sent: bytes) -> None:
    async with served() as listener:
        reader, writer = await listener.connect()
        writer.write(sent)
        assert (await rest(reader)).startswith(b"HTTP/1.1 408 ")
        assert listener.closed(Closing.SLOW_HEADER) == 1
        await until(lambda: listener.open == 0)


async def test_a_header_of_one_byte_now_and_then_ends_the_connection() -> None:
    async with served() as listener:
        reader, writer = await listener.connect()
        writer.write(b"GET / HTTP/1.1\r\n")
        sending = asyncio.create_task(trickle(writer, b"a: b\r\n"))
        await rest(reader)
        await sending
        assert listener.closed(Closing.SLOW_HEADER) == 1


async def test_a_header_without_end_is_cut_at_its_size() -> None:
    async with served() as listener:
        reader, writer = await listener.connect()
        writer.write(b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 50_000)
        await rest(reader)
        assert listener.closed(Closing.LARGE_HEADER) == 1


@pytest.mark.parametrize("piece", [b"", b"x"])
async def test_a_body_that_stalls_ends_the_connection_with_408(piece: bytes) -> None:
    async with served() as listener:
        reader, writer = await listener.connect()
        writer.write(HEAD)
        sending = asyncio.create_task(trickle(writer, piece))
        assert (await rest(reader)).startswith((b"HTTP/1.1 408 ", RESET))
        writer.close()
        await sending
        assert listener.closed(Closing.SLOW_BODY) == 1


async def test_a_body_that_comes_steadily_has_a_last_moment_too() -> None:
    async with served() as listener:
        reader, writer = await listener.connect()
        writer.write(HEAD.replace(b"1000", b"100000"))
        sending = asyncio.create_task(trickle(writer, bytes(100)))
        await rest(reader)
        writer.close()
        await sending
        assert listener.closed(Closing.SLOW_BODY) == 1


async def test_a_body_sent_after_its_answer_does_not_hold_the_connection() -> None:
    async def hasty(_scope: Any, _receive: Any, send: Any) -> None:
        headers = [(b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    async with served(hasty) as listener:
        reader, writer = await listener.connect()
        writer.write(HEAD)
        sending = asyncio.create_task(trickle(writer, b"x"))
        assert (await rest(reader)).startswith((b"HTTP/1.1 200 ", RESET))
        writer.close()
        await sending
        assert listener.closed(Closing.SLOW_BODY) == 1


async def test_empty_lines_do_not_keep_an_idle_connection() -> None:
    async with served() as listener:
        reader, writer = await listener.connect()
        writer.write(GET)
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        sending = asyncio.create_task(trickle(writer, b"\r\n"))
        await rest(reader)
        writer.close()
        await sending
        assert listener.closed(Closing.IDLE) == 1


async def test_a_client_that_does_not_read_its_answer_is_dropped() -> None:
    async with served() as listener:
        _, writer = await listener.connect()
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(GET.replace(b"GET /", b"GET /large"))
        await until(lambda: listener.closed(Closing.SLOW_READER) == 1)
        writer.close()


async def test_a_request_that_takes_long_to_answer_is_waited_for() -> None:
    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(3 * SHORT.idle_seconds)
        await application(scope, receive, send)

    async with served(slow) as listener:
        reader, writer = await listener.connect()
        writer.write(GET)
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        writer.close()


async def test_a_newcomer_gets_the_room_of_a_silent_connection() -> None:
    async with served(most=8, deadlines=Deadlines()) as listener:
        silent = [await listener.connect(b"GET / HT") for _ in range(8)]
        await until(lambda: listener.open == 8)
        reader, writer = await listener.connect()
        writer.write(GET)
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        assert listener.closed(Closing.MADE_ROOM) > 0
        assert listener.open <= 8
        for _, each in [*silent, (reader, writer)]:
            each.close()


async def test_one_address_gets_half_of_the_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    # As if the clients were on another machine.
    monkeypatch.setattr(acceptor, "peer_of", lambda _host: "10.0.0.7")
    async with served(most=8, deadlines=Deadlines()) as listener:
        opened = [await listener.connect(b"GET / HT") for _ in range(20)]
        await until(lambda: listener.closed(Closing.MADE_ROOM) >= 16)
        assert listener.open <= 4
        for _, writer in opened:
            writer.close()


async def test_half_a_tls_handshake_ends_by_the_deadline(tmp_path: Path) -> None:
    pair = self_signed(tmp_path)
    async with served(tls=Tls(certificate=pair.certificate, key=pair.key)) as listener:
        for sent in (b"", b"\x16\x03\x01\x02\x00\x01"):
            reader, writer = await listener.connect()
            writer.write(sent)
            await rest(reader)
            writer.close()
        assert listener.closed(Closing.SLOW_HANDSHAKE) == 2
        for sent, reason in (
            (b"neither TLS nor HTTP", Closing.BAD_HANDSHAKE),
            (GET, Closing.WRONG_PROTOCOL),
        ):
            reader, writer = await listener.connect()
            writer.write(sent)
            await rest(reader)
            await until(lambda reason=reason: listener.closed(reason) == 1)
        await until(lambda: listener.open == 0)


async def test_out_of_descriptors_is_one_line_and_passes() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with served() as listener:
        clients = [socket.socket() for _ in range(20)]
        highest = max(client.fileno() for client in clients)
        with structlog.testing.capture_logs() as lines:
            resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 1, hard))
            try:
                for client in clients:
                    client.setblocking(False)
                    client.connect_ex(("127.0.0.1", listener.port))
                await asyncio.sleep(0.1)
                for client in clients:
                    client.send(b"GET / HT")
                await asyncio.sleep(2)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            await until(lambda: listener.open > 0)
        assert [line["event"] for line in lines] == ["connections cannot be accepted"]
        for client in clients:
            client.close()


def test_a_thread_serves_and_ends() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = probe.getsockname()
    endpoint = f"127.0.0.1:{address[1]}"

    def serving() -> contextlib.AbstractAsyncContextManager[int]:
        return serve(application, endpoint, limits(), tls=PLAIN, stop_seconds=1)

    with (
        in_thread(serving(), name="test", stop_seconds=PATIENCE),
        socket.create_connection(address) as client,
    ):
        client.sendall(GET)
        assert client.recv(12) == b"HTTP/1.1 200"
        with (
            pytest.raises(OSError, match="in use"),
            in_thread(serving(), name="second", stop_seconds=PATIENCE),
        ):
            pass
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address)


async def test_what_is_no_http_is_counted_and_logged_once() -> None:
    with structlog.testing.capture_logs() as lines:
        async with served() as listener:
            for _ in range(3):
                reader, writer = await listener.connect(b"\x00\x01 neither TLS nor HTTP\r\n\r\n")
                reply = await rest(reader)
                writer.close()
                assert reply.startswith(b"HTTP/1.1 400")
                assert reply.endswith(b"what came to test cannot be read as HTTP/1.1")
            assert listener.closed(Closing.BAD_REQUEST) == 3
    assert [line["event"] for line in lines] == ["clients speak the wrong protocol"]
