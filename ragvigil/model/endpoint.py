"""Listening addresses: their form, which are loopback, and what the others require."""

from __future__ import annotations

import ipaddress
from pathlib import Path


def split_endpoint(endpoint: str) -> tuple[str, int]:
    """Host and port of `host:port` or `[v6]:port`.

    >>> split_endpoint("[::1]:8088")
    ('::1', 8088)

    Raises ValueError if it is neither.
    """
    host, _, port = endpoint.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    if not bare or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise ValueError(f"{endpoint} is not an address of the form host:port")
    return bare, int(port)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach `host`.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0")]
    [True, True, True, False]
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def require_guarded(endpoint: str, *, has_token: bool, has_tls: bool, insecure: bool) -> None:
    """Raises ValueError, in one sentence, for an open address without token and TLS."""
    host, _ = split_endpoint(endpoint)
    if is_loopback(host) or insecure or (has_token and has_tls):
        return
    lacks = " and ".join(
        word for word, has in (("a token", has_token), ("TLS", has_tls)) if not has
    )
    raise ValueError(
        f"{endpoint} is reachable from other machines and lacks {lacks}; "
        "give them, stay on 127.0.0.1, or write insecure = true"
    )


def require_pair(certificate: Path | None, key: Path | None) -> None:
    """Raises ValueError if only one of a certificate and its key is given."""
    if (certificate is None) != (key is None):
        given = "tls_key" if certificate is None else "tls_certificate"
        raise ValueError(f"only {given} is set; give both tls_certificate and tls_key, or none")


def require_file(path: Path | None) -> Path | None:
    """Returns the path. Raises ValueError if it names no readable file."""
    if path is not None and not path.is_file():
        raise ValueError(f"{path} is not a file that can be read")
    return path
