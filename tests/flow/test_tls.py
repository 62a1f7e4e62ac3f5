"""Certificates: of the daemon, of senders and of the command line; and where no token is sent."""

from __future__ import annotations

import contextlib
import os
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import httpx2
import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.trace import SpanContext, TraceFlags

from ragvigil.app.demo.child_daemon import ChildDaemon, start
from tests.certificates import Pair, self_signed, signed
from tests.otlp import trace_request
from tests.patience import PATIENCE_SECONDS
from tests.recorder import Recorder

pytestmark = pytest.mark.slow

TOKEN = "of-everybody-0123456789"
BEARER = {"authorization": f"Bearer {TOKEN}"}
READY_SECONDS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Secured:
    """A daemon with certificates, the authority of all of them, and who has one."""

    daemon: ChildDaemon
    folder: Path
    authority: Pair
    server: Pair
    sender: Pair
    stranger: Pair

    def context(self, *, shows: Pair | None = None) -> ssl.SSLContext:
        """A client that trusts the authority and shows a certificate."""
        context = ssl.create_default_context(cafile=str(self.authority.certificate))
        if shows is not None:
            context.load_cert_chain(shows.certificate, shows.key)
        return context

    def config(self, *client: str) -> Path:
        """The daemon's settings as a file, with these lines of `[client]`."""
        daemon, pair = self.daemon, self.server
        tls = f'tls_certificate = "{pair.certificate}"\ntls_key = "{pair.key}"'
        path = self.folder / "ragvigil.toml"
        path.write_text(
            f'[collector]\nhttp_endpoint = "{daemon.http}"\nhttp_token = "{TOKEN}"\n{tls}\n'
            f'[web]\nendpoint = "{daemon.web}"\nadmin_token = "{TOKEN}"\n{tls}\n'
            f"[client]\n{chr(10).join(client)}\n"
        )
        return path


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("tls")
    authority = self_signed(folder, "authority")
    server, sender = signed(folder, "server", authority), signed(folder, "sender", authority)
    settings = {
        "RAGVIGIL_COLLECTOR__GRPC_TOKEN": TOKEN,
        "RAGVIGIL_COLLECTOR__HTTP_TOKEN": TOKEN,
        "RAGVIGIL_METRICS__TOKEN": TOKEN,
        "RAGVIGIL_WEB__ADMIN_TOKEN": TOKEN,
    }
    for section in ("COLLECTOR", "METRICS", "WEB"):
        settings[f"RAGVIGIL_{section}__TLS_CERTIFICATE"] = str(server.certificate)
        settings[f"RAGVIGIL_{section}__TLS_KEY"] = str(server.key)
    for section in ("COLLECTOR", "WEB"):
        settings[f"RAGVIGIL_{section}__TLS_CLIENT_CA"] = str(authority.certificate)
    made = Secured(
        daemon=start(folder / "data", settings=settings),
        folder=folder, authority=authority, server=server, sender=sender,
        stranger=self_signed(folder, "stranger"),
    )  # fmt: skip
    try:
        _wait(made)
        yield made
    finally:
        made.daemon.stop()


def _wait(secured: Secured) -> None:
    deadline = time.monotonic() + READY_SECONDS
    with httpx2.Client(verify=secured.context(), timeout=PATIENCE_SECONDS) as client:
        while time.monotonic() < deadline:
            assert secured.daemon.process.poll() is None, secured.daemon.last_lines()
            with contextlib.suppress(httpx2.TransportError):
                if client.get(f"https://{secured.daemon.metrics}/readyz").status_code == 200:
                    return
            time.sleep(0.1)
    raise AssertionError(secured.daemon.last_lines())


def span() -> ReadableSpan:
    """A span that an exporter takes."""
    context = SpanContext(0xABC, 0xDEF, is_remote=False, trace_flags=TraceFlags(1))
    return ReadableSpan("ask", context=context, start_time=1, end_time=2)


def sent_over_http(secured: Secured, shows: Pair | None, trusts: Pair, scheme: str) -> bool:
    exporter = HttpExporter(
        endpoint=f"{scheme}://{secured.daemon.http}/v1/traces",
        headers=BEARER,
        certificate_file=str(trusts.certificate),
        client_certificate_file=str(shows.certificate) if shows else None,
        client_key_file=str(shows.key) if shows else None,
        timeout=3,
    )
    return exporter.export([span()]) is SpanExportResult.SUCCESS


def sent_over_grpc(secured: Secured, shows: Pair | None, trusts: Pair, scheme: str) -> bool:
    credentials = grpc.ssl_channel_credentials(
        trusts.certificate.read_bytes(),
        shows.key.read_bytes() if shows else None,
        shows.certificate.read_bytes() if shows else None,
    )
    is_open = scheme == "http"
    exporter = GrpcExporter(
        endpoint=f"{scheme}://{secured.daemon.grpc}",
        headers=BEARER,
        insecure=is_open,
        credentials=None if is_open else credentials,
        timeout=3,
    )
    try:
        return exporter.export([span()]) is SpanExportResult.SUCCESS
    finally:
        exporter.shutdown()


@pytest.mark.parametrize("send", [sent_over_http, sent_over_grpc])
def test_exporters_send_with_a_certificate_of_the_authority_alone(
    secured: Secured, send: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):  # would win over the exporter's own
        monkeypatch.delenv(name, raising=False)
    assert send(secured, secured.sender, secured.authority, "https")
    assert not send(secured, None, secured.authority, "https")
    assert not send(secured, secured.stranger, secured.authority, "https")
    assert not send(secured, secured.sender, secured.stranger, "https")
    assert not send(secured, secured.sender, secured.authority, "http")


def test_a_certificate_is_no_token(secured: Secured) -> None:
    with httpx2.Client(
        verify=secured.context(shows=secured.sender), timeout=PATIENCE_SECONDS
    ) as client:
        url = f"https://{secured.daemon.web}/api/v1/status"
        assert client.get(url).status_code == 401
        assert client.get(url, headers=BEARER).status_code == 200
        url = f"https://{secured.daemon.http}/v1/traces"
        media = {"content-type": "application/x-protobuf"}
        assert client.post(url, headers=media).status_code == 401
        assert client.post(url, headers=media | BEARER).status_code == 200


@pytest.mark.parametrize("shows", ["nobody", "stranger"])
def test_the_api_asks_for_a_certificate(secured: Secured, shows: str) -> None:
    context = secured.context(shows=secured.stranger if shows == "stranger" else None)
    with (
        httpx2.Client(verify=context, timeout=PATIENCE_SECONDS) as client,
        pytest.raises(httpx2.TransportError),
    ):
        client.get(f"https://{secured.daemon.web}/api/v1/status", headers=BEARER)


def test_metrics_have_tls_and_ask_probes_and_scrapes_for_no_certificate(secured: Secured) -> None:
    with httpx2.Client(verify=secured.context(), timeout=PATIENCE_SECONDS) as client:
        url = f"https://{secured.daemon.metrics}"
        assert client.get(f"{url}/healthz").status_code == 200
        assert client.get(f"{url}/metrics").status_code == 401
        assert client.get(f"{url}/metrics", headers=BEARER).status_code == 200
    plain = f"http://{secured.daemon.metrics}/metrics"
    assert httpx2.get(plain, headers=BEARER, timeout=PATIENCE_SECONDS).status_code == 400


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The command line, in an environment of its own."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("RAGVIGIL_")}
    return subprocess.run(
        [sys.executable, "-m", "ragvigil.app.cli.main", *arguments],
        env=clean | variables, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
    )  # fmt: skip


def shown(pair: Pair) -> tuple[str, str]:
    """The lines of `[client]` that show a certificate."""
    return f'tls_certificate = "{pair.certificate}"', f'tls_key = "{pair.key}"'


def test_a_command_reaches_the_daemon_of_its_settings_over_tls(secured: Secured) -> None:
    config = secured.config(*shown(secured.sender))
    done = run("status", "-c", str(config), "--json")
    assert done.returncode == 0, done.stderr
    without = run("status", "-c", str(secured.config()))
    assert without.returncode == 2
    assert "tls_certificate" in without.stderr
    assert without.stderr.count("\n") == 1
    assert TOKEN not in without.stderr


def test_a_command_on_another_machine_names_url_authority_and_token(secured: Secured) -> None:
    config = secured.folder / "elsewhere.toml"
    (secured.folder / "token").write_text(TOKEN + "\n")
    lines = [
        "[client]",
        f'url = "https://localhost:{secured.daemon.web.rpartition(":")[2]}"',
        f'token_file = "{secured.folder / "token"}"',
        *shown(secured.sender),
    ]
    config.write_text("\n".join([*lines, f'ca_file = "{secured.authority.certificate}"']))
    done = run("status", "-c", str(config), "--json")
    assert done.returncode == 0, done.stderr
    for distrusted in ("", f'ca_file = "{secured.stranger.certificate}"'):
        config.write_text("\n".join([*lines, distrusted]))
        failed = run("status", "-c", str(config))
        assert failed.returncode == 2
        assert "CERTIFICATE_VERIFY_FAILED" in failed.stderr
        assert "ca_file" in failed.stderr


def test_a_command_does_not_take_another_server_for_its_daemon(secured: Secured) -> None:
    """Another certificate of the same authority is not the one of the settings."""
    config = secured.config(*shown(secured.sender))
    text = config.read_text()
    for pair in (secured.sender, secured.stranger):
        for name in ("certificate", "key"):
            text = text.replace(f'"{getattr(secured.server, name)}"', f'"{getattr(pair, name)}"')
        config.write_text(text)
        failed = run("status", "-c", str(config))
        assert failed.returncode == 2
        assert "CERTIFICATE_VERIFY_FAILED" in failed.stderr
        text = secured.config(*shown(secured.sender)).read_text()


def test_replay_sends_over_tls_with_certificate_and_token(secured: Secured) -> None:
    requests = secured.folder / "recording/requests"
    requests.mkdir(parents=True)
    (requests / "0001.pb").write_bytes(trace_request(2).SerializeToString())
    config = secured.config(*shown(secured.sender))
    done = run("replay", str(requests.parent), "-c", str(config), "--rate", "0", "--json")
    assert done.returncode == 0, done.stderr
    assert '"items": 2' in done.stdout


@pytest.mark.parametrize("command", [("status",), ("deltas",), ("issues", "list")], ids=str)
def test_no_token_goes_to_another_machine_in_clear_text(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    config = tmp_path / "ragvigil.toml"
    config.write_text(f'[client]\nurl = "http://ragvigil.example:8088"\ntoken = "{TOKEN}"\n')
    with Recorder() as proxy:
        proxies = dict.fromkeys(("HTTP_PROXY", "http_proxy"), f"http://{proxy.address}")
        done = run(*command, "-c", str(config), **proxies)
        assert proxy.seen == []
    assert done.returncode == 2
    assert "[client] insecure = true" in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_import_sends_no_token_to_another_machine_in_clear_text(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "ragvigil.toml").write_text("")
    (tmp_path / "spans.json").write_text("")
    done = run(
        "import", "collector_file", str(tmp_path / "spans.json"),
        "-c", str(tmp_path / "ragvigil.toml"), "--token-file", str(tmp_path / "token"),
        "--endpoint", "http://ragvigil.example:4318",
    )  # fmt: skip
    assert done.returncode == 2
    assert "[client] insecure = true" in done.stderr


def test_a_command_uses_no_proxy_and_follows_no_redirect(tmp_path: Path) -> None:
    config = tmp_path / "ragvigil.toml"
    with Recorder() as thief, Recorder(redirects_to=f"http://{thief.address}/") as daemon:
        config.write_text(f'[web]\nendpoint = "{daemon.address}"\nadmin_token = "{TOKEN}"\n')
        proxies = {"HTTP_PROXY": f"http://{thief.address}", "ALL_PROXY": f"http://{thief.address}"}
        done = run("status", "-c", str(config), **proxies)
        assert done.returncode == 2
        assert "307" in done.stderr
        assert daemon.tokens == [f"Bearer {TOKEN}"]
        assert thief.seen == []
