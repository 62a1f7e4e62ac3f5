"""Where a command connects to: scheme, certificates, and which token it may send there.

Commands ignore the proxies of the environment: a token is for the daemon alone.
"""

from __future__ import annotations

import re
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ragvigil.app.settings import Settings, SettingsError
from ragvigil.app.settings.client import ClientSettings
from ragvigil.model.endpoint import is_loopback, split_endpoint
from ragvigil.model.token import read_token

if TYPE_CHECKING:
    from ragvigil.app.demo.replay import SendOptions

EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Where a listener on every address of a machine is reached from there."""
FIRST_CERTIFICATE = re.compile(
    r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", flags=re.DOTALL
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A daemon's address, the headers that go there, and how its certificate is checked."""

    base: str
    headers: dict[str, str]
    tls: ssl.SSLContext | None


def to_api(settings: Settings, role: str) -> Connection:
    """The API, with a token of this role. Raises SettingsError."""
    try:
        token = settings.client.secret() or settings.web.secret(role)
    except ValueError as error:
        raise SettingsError(f"the token cannot be read: {error}") from error
    return _to_api(settings, token)


def to_api_for(settings: Settings, authorization: str) -> Connection:
    """The API, with the token of a caller's Authorization header. Raises SettingsError.

    Tokens of the settings are not lent: the caller may do what their own allows.
    """
    scheme, _, token = authorization.partition(" ")
    return _to_api(settings, token.strip() if scheme.lower() == "bearer" else None)


def _to_api(settings: Settings, token: str | None) -> Connection:
    client, web = settings.client, settings.web
    if client.url:
        return _connection(client.url, token, client)
    base = _own(web.endpoint, web.tls_certificate)
    return _connection(base, token, client, own=web.tls_certificate, insecure=web.insecure)


def to_otlp(
    settings: Settings, endpoint: str | None, token_file: Path | None, *, backfill: str
) -> SendOptions:
    """OTLP/HTTP of `endpoint`, else of the daemon of the settings, for a backfill of this name.

    The token of the settings is never sent to another endpoint. Raises SettingsError where a token
    cannot be read, or would be sent to another machine without TLS.
    """
    from ragvigil.app.demo.replay import SendOptions

    client, collector = settings.client, settings.collector
    try:
        token = _sender_token(settings, endpoint, token_file, is_backfill=bool(backfill))
    except ValueError as error:
        raise SettingsError(f"the token cannot be read: {error}") from error
    if endpoint is not None:
        to = _connection(endpoint, token, client)
    else:
        base = _own(collector.http_endpoint, collector.tls_certificate)
        own, insecure = collector.tls_certificate, collector.insecure
        to = _connection(base, token, client, own=own, insecure=insecure)
    return SendOptions(target=to.base, backfill=backfill, headers=to.headers, tls=to.tls)


def _sender_token(
    settings: Settings, endpoint: str | None, token_file: Path | None, *, is_backfill: bool
) -> str | None:
    if token_file is not None:
        return read_token(token_file)
    if endpoint is not None:
        return None
    http, admin = settings.collector.token("http"), settings.collector.token("admin")
    return (admin or http) if is_backfill else (http or admin)


def _own(endpoint: str, certificate: Path | None) -> str:
    """The URL of a listener of this machine; one on every address is reached over loopback."""
    host, port = split_endpoint(endpoint)
    host = EVERY_ADDRESS.get(host, host)
    bracketed = f"[{host}]" if ":" in host else host
    return f"{'http' if certificate is None else 'https'}://{bracketed}:{port}"


def _connection(
    base: str,
    token: str | None,
    client: ClientSettings,
    *,
    own: Path | None = None,
    insecure: bool = False,
) -> Connection:
    parts = urlsplit(base)
    is_private = parts.scheme == "https" or is_loopback(parts.hostname or "")
    if token and not (is_private or insecure or client.insecure):
        raise SettingsError(
            f"{base} is another machine and has no TLS: no token is sent there; "
            "use https://, or write [client] insecure = true"
        )
    headers = {"authorization": f"Bearer {token}"} if token else {}
    tls = _tls(client, own) if parts.scheme == "https" else None
    return Connection(base=base, headers=headers, tls=tls)


def _tls(client: ClientSettings, own: Path | None) -> ssl.SSLContext:
    try:
        if own is None or client.ca_file is not None:
            context = ssl.create_default_context(cafile=client.ca_file)
        else:
            context = _pinned(own)
        if client.tls_certificate is not None:
            context.load_cert_chain(client.tls_certificate, client.tls_key)
    except (OSError, ValueError) as error:
        raise SettingsError(f"[client]: a certificate cannot be read: {error}") from error
    return context


def _pinned(certificate: Path) -> ssl.SSLContext:
    """Trusts this one certificate, under any name: the settings say that it is the daemon's."""
    found = FIRST_CERTIFICATE.search(certificate.read_text(encoding="ascii", errors="replace"))
    if found is None:
        raise ValueError(f"{certificate} holds no certificate")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.load_verify_locations(cadata=found.group())
    return context
