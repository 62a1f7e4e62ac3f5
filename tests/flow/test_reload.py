"""SIGHUP reads tokens and certificates again, and no request that is sent meanwhile fails."""

from __future__ import annotations

import contextlib
import shutil
import signal
import ssl
import threading
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import grpc
import httpx2
import pytest

from collector.receiver.grpc import serve_grpc
from collector.receiver.http import serve_http
from collector.receiver.receive import Gate
from collector.redaction.redact import Redactor
from collector.settings import CollectorSettings
from ragvigil.app.demo.child_daemon import ChildDaemon, start
from ragvigil.listener.reloads import Reloads
from tests.certificates import Pair, self_signed
from tests.otlp import KEY, KeptSpool, trace_request
from tests.patience import PATIENCE_SECONDS

OLD, NEW = "token-of-yesterday-01", "token-of-today-0123456"
METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
BODY = trace_request().SerializeToString()


class Files:
    """The certificate and the token of a listener, as files that change."""

    def __init__(self, folder: Path) -> None:
        self.pairs = [self_signed(folder, name) for name in ("first", "second")]
        self.certificate, self.key = folder / "tls.crt", folder / "tls.key"
        self.token = folder / "token"
        self.write(0, OLD)

    def write(self, pair: int, token: str) -> None:
        shutil.copy(self.pairs[pair].certificate, self.certificate)
        shutil.copy(self.pairs[pair].key, self.key)
        self.token.write_text(token)


def trusting(pair: Pair) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(pair.certificate))


@contextlib.asynccontextmanager
async def listening(files: Files) -> AsyncIterator[tuple[Reloads, str, str]]:
    """Both receivers with these files; their addresses."""
    settings = CollectorSettings(
        grpc_endpoint="127.0.0.1:0",
        http_endpoint="127.0.0.1:0",
        tls_certificate=files.certificate,
        tls_key=files.key,
        grpc_token_file=files.token,
        http_token_file=files.token,
    )
    spool, reloads = KeptSpool(), Reloads()
    gate = Gate.open(settings, spool=spool, redactor=Redactor(settings.redact, key=KEY))
    async with (
        serve_grpc(gate, settings, reloads) as rpc,
        serve_http(gate, settings, reloads) as web,
    ):
        yield reloads, f"localhost:{rpc}", f"https://127.0.0.1:{web}/v1/traces"


async def posted(url: str, pair: Pair, token: str) -> int:
    """The status of one request, on a connection of its own."""
    headers = {"authorization": f"Bearer {token}", "content-type": "application/x-protobuf"}
    async with httpx2.AsyncClient(verify=trusting(pair), trust_env=False) as client:
        return (await client.post(url, content=BODY, headers=headers)).status_code


async def called(target: str, pair: Pair, token: str) -> str:
    """The code of one call, on a connection of its own."""
    credentials = grpc.ssl_channel_credentials(pair.certificate.read_bytes())
    async with grpc.aio.secure_channel(target, credentials) as channel:
        metadata = (("authorization", f"Bearer {token}"),)
        try:
            await channel.unary_unary(METHOD)(BODY, metadata=metadata, timeout=PATIENCE_SECONDS)
        except grpc.aio.AioRpcError as error:
            return str(error.code().name)
        return "OK"


async def test_new_connections_get_the_new_certificate_and_old_ones_stay(tmp_path: Path) -> None:
    files = Files(tmp_path)
    async with listening(files) as (reloads, target, url):
        headers = {"authorization": f"Bearer {OLD}", "content-type": "application/x-protobuf"}
        trusted = trusting(files.pairs[0])
        async with httpx2.AsyncClient(verify=trusted, trust_env=False) as kept:
            assert (await kept.post(url, content=BODY, headers=headers)).status_code == 200
            files.write(1, f"{NEW}\n{OLD}")
            reloads.run()
            # On the connection from before: with the former token, which the file still has.
            assert (await kept.post(url, content=BODY, headers=headers)).status_code == 200
        for token in (OLD, NEW):
            assert await posted(url, files.pairs[1], token) == 200
            assert await called(target, files.pairs[1], token) == "OK"
        with pytest.raises(httpx2.ConnectError):
            await posted(url, files.pairs[0], NEW)
        files.write(1, NEW)
        reloads.run()
        assert await posted(url, files.pairs[1], OLD) == 401
        assert await called(target, files.pairs[1], OLD) == "UNAUTHENTICATED"


async def test_files_that_do_not_fit_change_nothing(tmp_path: Path) -> None:
    files = Files(tmp_path)
    async with listening(files) as (reloads, target, url):
        files.write(1, NEW)
        shutil.copy(files.pairs[0].key, files.key)  # somebody is not done yet
        with pytest.raises(ValueError, match="tls"):
            reloads.run()
        assert await posted(url, files.pairs[0], OLD) == 200
        assert await called(target, files.pairs[0], OLD) == "OK"
        files.write(1, "")
        with pytest.raises(ValueError, match="holds no tokens; it must hold one"):
            reloads.run()
        assert await posted(url, files.pairs[0], NEW) == 401


@pytest.mark.slow
def test_a_daemon_reloads_under_load_and_no_request_fails(tmp_path: Path) -> None:
    files = Files(tmp_path)
    people = tmp_path / "people"
    people.write_text(f"admin {OLD} ada\n")
    settings = {"RAGVIGIL_COLLECTOR__HTTP_TOKEN_FILE": str(files.token)}
    settings["RAGVIGIL_WEB__TOKENS_FILE"] = str(people)
    for section in ("COLLECTOR", "METRICS", "WEB"):
        settings[f"RAGVIGIL_{section}__TLS_CERTIFICATE"] = str(files.certificate)
        settings[f"RAGVIGIL_{section}__TLS_KEY"] = str(files.key)
    daemon = start(tmp_path / "data", settings=settings)
    try:
        both = tmp_path / "both.pem"
        both.write_text("".join(pair.certificate.read_text() for pair in files.pairs))
        trusted = ssl.create_default_context(cafile=str(both))
        wait(lambda: status(f"https://{daemon.metrics}/readyz", trusted) == 200, daemon)
        stop, results = threading.Event(), list[int]()
        senders = [
            threading.Thread(target=send, args=(daemon, trusted, fresh, stop, results))
            for fresh in (False, True)
        ]
        for sender in senders:
            sender.start()
        for turn in range(1, 7):
            before = len(results)
            files.write(turn % 2, f"{NEW}\n{OLD}")
            people.write_text(f"admin {OLD if turn % 2 else NEW} ada\n")
            daemon.process.send_signal(signal.SIGHUP)
            expected = 200 if turn % 2 else 401
            url = f"https://{daemon.web}/api/v1/person"
            wait(lambda: status(url, trusted, OLD) == expected, daemon)  # noqa: B023
            wait(lambda: len(results) > before + 50, daemon)  # noqa: B023
        stop.set()
        for sender in senders:
            sender.join()
        assert len(results) > 300
        assert set(results) == {200}
    finally:
        daemon.stop()


def status(url: str, trusted: ssl.SSLContext, token: str = "") -> int:
    """The status of one request; 0 where nothing answers."""
    with contextlib.suppress(httpx2.TransportError):
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return httpx2.get(url, verify=trusted, headers=headers, trust_env=False).status_code
    return 0


def send(
    daemon: ChildDaemon,
    trusted: ssl.SSLContext,
    fresh: bool,
    stop: threading.Event,
    results: list[int],
) -> None:
    """Sends until `stop`, on one connection, or on a `fresh` one every time."""
    headers = {"authorization": f"Bearer {OLD}", "content-type": "application/x-protobuf"}
    client = httpx2.Client(verify=trusted, trust_env=False)
    while not stop.is_set():
        if fresh:
            client.close()
            client = httpx2.Client(verify=trusted, trust_env=False)
        try:
            reply = client.post(f"https://{daemon.http}/v1/traces", content=BODY, headers=headers)
            results.append(reply.status_code)
        except httpx2.TransportError:
            results.append(0)
    client.close()


def wait(condition: Callable[[], bool], daemon: ChildDaemon) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, daemon.last_lines()
        time.sleep(0.05)
