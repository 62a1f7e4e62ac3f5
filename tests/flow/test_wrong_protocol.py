"""A client of the wrong listener is told where it belongs, and so is the log: once a minute."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import httpx2
import pytest

from ragvigil.app.demo.child_daemon import ChildDaemon, start
from tests.certificates import Pair, self_signed
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
PROTOBUF = {"content-type": "application/x-protobuf"}
WRONG = "clients speak the wrong protocol"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return self_signed(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChildDaemon]:
    """Without TLS."""
    yield from running(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory, certificate: Pair) -> Iterator[ChildDaemon]:
    """With TLS for its receivers and the web."""
    pair = {"TLS_CERTIFICATE": certificate.certificate, "TLS_KEY": certificate.key}
    settings = {
        f"RAGVIGIL_{section}__{key}": str(path)
        for section in ("COLLECTOR", "WEB")
        for key, path in pair.items()
    }
    yield from running(tmp_path_factory.mktemp("tls"), settings)


def running(folder: Path, settings: dict[str, str] | None = None) -> Iterator[ChildDaemon]:
    started = start(folder, settings=settings)
    started.wait_ready()
    yield started
    started.stop()


def lines(daemon: ChildDaemon, setting: str) -> list[str]:
    """The log's hints on clients of a listener."""
    log = (daemon.data_dir / "daemon.log").read_text(errors="replace").splitlines()
    return [line for line in log if WRONG in line and setting in line]


def wait_for_line(daemon: ChildDaemon, *words: str) -> str:
    give_up = time.monotonic() + PATIENCE_SECONDS
    while not (found := [line for line in lines(daemon, "") if all(w in line for w in words)]):
        assert time.monotonic() < give_up, daemon.last_lines()
        time.sleep(0.1)
    return found[0]


def called(address: str, body: bytes = b"") -> grpc.RpcError:
    """How a gRPC call to this address ends."""
    with grpc.insecure_channel(address) as channel, pytest.raises(grpc.RpcError) as error:
        channel.unary_unary(EXPORT)(body, timeout=PATIENCE_SECONDS)
    return error.value


@pytest.mark.parametrize(
    ("listener", "setting"),
    [("http", "[collector] http_endpoint"), ("web", "[web] endpoint"),
     ("metrics", "[metrics] endpoint")],
)  # fmt: skip
@pytest.mark.parametrize("size", [0, 1 << 20])
def test_grpc_to_an_http_port_is_answered_with_a_hint(
    daemon: ChildDaemon, listener: str, setting: str, size: int
) -> None:
    error = called(getattr(daemon, listener), bytes(size))
    # A client that still sends may see the end of the connection before the status.
    assert error.code() in (grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.UNAVAILABLE)
    assert f"gRPC came to {setting}, which speaks HTTP/1.1" in error.details()
    assert "[collector] grpc_endpoint" in error.details()
    for _ in range(3):
        called(getattr(daemon, listener))
    assert len(lines(daemon, f"gRPC came to {setting}")) == 1


@pytest.mark.parametrize(
    ("listener", "setting"), [("web", "[web] endpoint"), ("metrics", "[metrics] endpoint")]
)
@pytest.mark.parametrize("path", ["/v1/traces", "/api/v1/logs", "/v1/metrics/"])
def test_otlp_to_another_port_is_answered_with_a_hint(
    daemon: ChildDaemon, listener: str, setting: str, path: str
) -> None:
    url = f"http://{getattr(daemon, listener)}{path}"
    reply = httpx2.post(url, content=b"", headers=PROTOBUF, timeout=PATIENCE_SECONDS)
    assert reply.status_code == 404
    assert f"OTLP came to {setting}: OTLP/HTTP goes to [collector] http_endpoint" in reply.text
    assert len(lines(daemon, f"OTLP came to {setting}")) == 1


@pytest.mark.parametrize(
    ("listener", "setting"),
    [("http", "[collector] http_endpoint"), ("web", "[web] endpoint"),
     ("metrics", "[metrics] endpoint")],
)  # fmt: skip
def test_tls_to_a_plain_port_is_named(daemon: ChildDaemon, listener: str, setting: str) -> None:
    host, _, port = getattr(daemon, listener).rpartition(":")
    with (
        socket.create_connection((host, int(port))) as connection,
        pytest.raises(ssl.SSLError, match="WRONG_VERSION_NUMBER"),
    ):
        ssl.create_default_context().wrap_socket(connection, server_hostname="localhost")
    assert "use http://" in wait_for_line(daemon, f"TLS came to {setting}")


@pytest.mark.parametrize(
    ("listener", "setting"), [("http", "[collector] http_endpoint"), ("web", "[web] endpoint")]
)
def test_plain_text_to_a_port_with_tls_is_answered_with_a_hint(
    secured: ChildDaemon, listener: str, setting: str
) -> None:
    url = f"http://{getattr(secured, listener)}/v1/traces"
    reply = httpx2.post(url, content=bytes(10_000), headers=PROTOBUF, timeout=PATIENCE_SECONDS)
    assert reply.status_code == 400
    assert reply.text == f"plain text came to {setting}, which has TLS: use https://\n"
    assert len(lines(secured, f"plain text came to {setting}")) == 1
