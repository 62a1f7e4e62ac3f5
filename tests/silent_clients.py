"""Clients that connect and then hold the connection: they send nothing, or half of something."""

from __future__ import annotations

import contextlib
import itertools
import selectors
import socket
import threading
import time
from collections.abc import Iterator

from tests.patience import PATIENCE_SECONDS

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
HALF_HEADER = b"POST /v1/traces HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-prot"
HALF_BODY = (
    b"POST /v1/traces HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-protobuf\r\n"
    b"content-length: 67000000\r\n\r\nx"
)
EXPORT = b"/opentelemetry.proto.collector.trace.v1.TraceService/Export"
CLIENT_HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """An HTTP/2 frame."""
    return (
        len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload
    )


def headers(stream: int) -> bytes:
    """The HEADERS frame that opens an Export call."""
    fields = {
        b":method": b"POST",
        b":scheme": b"http",
        b":path": EXPORT,
        b":authority": b"localhost",
        b"te": b"trailers",
        b"content-type": b"application/grpc",
    }
    # Literal fields without indexing; no name or value is longer than 126 bytes.
    block = b"".join(
        bytes([0, len(name)]) + name + bytes([len(value)]) + value for name, value in fields.items()
    )
    return frame(1, 4, stream, block)


def message(stream: int, declared: int, sent: bytes) -> bytes:
    """The beginning of a gRPC message of `declared` bytes, in DATA frames."""
    body = b"\x00" + declared.to_bytes(4, "big") + sent
    pieces = (body[start : start + 16_000] for start in range(0, len(body), 16_000))
    return b"".join(frame(0, 0, stream, piece) for piece in pieces)


HTTP_KINDS = (b"", HALF_HEADER, HALF_BODY, CLIENT_HELLO)
GRPC_KINDS = (
    b"",
    PREFACE[:10],
    PREFACE,
    PREFACE + SETTINGS,
    PREFACE + SETTINGS + b"\x00\x40\x00\x01",
    PREFACE + SETTINGS + headers(1),
    PREFACE + SETTINGS + headers(1) + message(1, 60_000_000, b"x"),
)


class SilentClients:
    """Connections of every kind to every address; one that is closed is opened again."""

    def __init__(
        self, targets: list[tuple[str, bytes]], count: int, *, again_seconds: float
    ) -> None:
        self._selector = selectors.DefaultSelector()
        self._targets = itertools.cycle(targets)
        self._count = count
        self._again_seconds = again_seconds
        self._stop = threading.Event()
        self.opened = 0

    @property
    def open(self) -> int:
        """Connections that are open now."""
        return len(self._selector.get_map())

    def run(self) -> None:
        """Opens the connections and keeps them, until `stop`."""
        while not self._stop.is_set():
            while self.open < self._count and not self._stop.is_set():
                self._open(*next(self._targets))
            until = time.monotonic() + self._again_seconds
            while time.monotonic() < until and not self._stop.is_set():
                for key, _ in self._selector.select(0.05):
                    self._read(key.fileobj)
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
        self._selector.close()

    def stop(self) -> None:
        """Closes everything soon."""
        self._stop.set()

    def _open(self, address: str, sent: bytes) -> None:
        host, _, port = address.rpartition(":")
        client = socket.socket()
        client.settimeout(1)
        try:
            client.connect((host, int(port)))
            client.sendall(sent)
        except OSError:
            client.close()
            self._stop.wait(0.01)
            return
        client.setblocking(False)
        self.opened += 1
        self._selector.register(client, selectors.EVENT_READ)

    def _read(self, client: socket.socket) -> None:  # type: ignore[misc]
        with contextlib.suppress(ConnectionError):
            if client.recv(1 << 16):
                return
        self._selector.unregister(client)
        client.close()


@contextlib.contextmanager
def silent_clients(
    *, http: list[str], grpc: list[str], count: int, again_seconds: float = 0.5
) -> Iterator[SilentClients]:
    """`count` connections of all kinds to these addresses, while the block runs."""
    targets = [(address, kind) for address in http for kind in HTTP_KINDS]
    targets += [(address, kind) for address in grpc for kind in GRPC_KINDS]
    clients = SilentClients(targets, count, again_seconds=again_seconds)
    thread = threading.Thread(target=clients.run, name="silent clients")
    thread.start()
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while clients.opened < count and time.monotonic() < deadline:
            time.sleep(0.05)
        yield clients
    finally:
        clients.stop()
        thread.join()
