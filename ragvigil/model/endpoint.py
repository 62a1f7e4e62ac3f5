"""Listening addresses: their form, which are loopback, and what the others require."""

from __future__ import annotations

import ipaddress
import re
import ssl
from collections.abc import Collection, Iterable
from pathlib import Path

NAME = re.compile(r"[A-Za-z0-9_.-]+")
"""A name of a host."""
SAME_HOSTS = {"localhost": {"localhost", "127.0.0.1", "::1"}}
EVERY_HOST = {"0.0.0.0", "::"}


def split_endpoint(endpoint: str) -> tuple[str, int]:
    """Host and port of `host:port` or `[v6]:port`.

    >>> split_endpoint("[::1]:8088")
    ('::1', 8088)

    Raises ValueError if it is neither.
    """
    if "://" in endpoint:
        raise ValueError(
            f"{endpoint} is a URL; an address to listen on is host:port, as in 127.0.0.1:4318"
        )
    host, _, port = endpoint.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    is_port = port.isascii() and port.isdigit() and int(port) <= 65535
    if not is_port or not (NAME.fullmatch(bare) or _is_address(bare)):
        raise ValueError(f"{endpoint} is not an address of the form host:port")
    return bare, int(port)


def overlap(first: str, second: str) -> bool:
    """Whether two listeners get in each other's way: one port, and a host in common.

    >>> overlap("127.0.0.1:4318", "0.0.0.0:4318"), overlap("127.0.0.1:4318", "10.0.0.7:4318")
    (True, False)
    """
    (host, port), (other, other_port) = split_endpoint(first), split_endpoint(second)
    if not port or port != other_port:  # the system gives each a free one for port 0
        return False
    hosts, others = SAME_HOSTS.get(host, {host}), SAME_HOSTS.get(other, {other})
    return bool(hosts & others) or bool({host, other} & EVERY_HOST)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach `host`.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0")]
    [True, True, True, False]
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def host_name(host: str) -> str:
    """The name in a Host header, without its port and in lower case.

    >>> [host_name(host) for host in ("Desk.example:8088", "[::1]:8088", "127.0.0.1")]
    ['desk.example', '::1', '127.0.0.1']
    """
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


def answers_to(host: str, names: Collection[str]) -> bool:
    """Whether a listener on loopback answers to this Host header; `names` are further names.

    A page of another site can have its own name resolve to 127.0.0.1 (DNS rebinding): its requests
    then arrive here, but the browser still sends that name.
    """
    name = host_name(host)
    return is_loopback(name) or name in {known.lower() for known in names}


def require_guarded(
    endpoint: str, *, has_token: bool, has_tls: bool, insecure: bool, none: bool = False
) -> None:
    """Raises ValueError, in one sentence, for an open address without a token, or without TLS.

    `insecure` stands in for TLS alone; `none` says that the settings ask for no tokens.
    """
    host, _ = split_endpoint(endpoint)
    if is_loopback(host) or (has_token and (has_tls or insecure)):
        return
    if none:
        raise ValueError(
            f'{endpoint} is reachable from other machines; tokens = "none" is for 127.0.0.1 alone'
        )
    has_tls = has_tls or insecure
    lacks = " and ".join(
        word for word, has in (("a token", has_token), ("TLS", has_tls)) if not has
    )
    raise ValueError(
        f"{endpoint} is reachable from other machines and lacks {lacks}; "
        f"give {'it' if has_token or has_tls else 'them'}, or stay on 127.0.0.1"
        f"{'' if has_tls else ' (insecure = true does without TLS)'}"
    )


def require_pair(certificate: Path | None, key: Path | None) -> None:
    """Raises ValueError if only one of a certificate and its key is given."""
    if (certificate is None) != (key is None):
        given = "tls_key" if certificate is None else "tls_certificate"
        raise ValueError(f"only {given} is set; give both tls_certificate and tls_key, or none")


def require_fit(certificate: Path | None, key: Path | None) -> None:
    """Raises ValueError if the files are not a certificate and its key, as TLS needs them."""
    if certificate is None or key is None:
        return
    try:
        # With an empty password OpenSSL does not ask for that of the key on the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, lambda: "")
    except PermissionError:
        return  # a command of another user needs no key; who does fails then
    except (OSError, ValueError) as error:
        raise ValueError(
            f"{certificate} and {key} are not a PEM certificate and its key without a password: "
            f"{getattr(error, 'reason', None) or error}"
        ) from error


def require_authorities(path: Path | None, *, has_tls: bool = True) -> None:
    """Raises ValueError if a file of authorities holds no certificate, or there is no TLS."""
    if path is None:
        return
    if not has_tls:
        raise ValueError("needs tls_certificate and tls_key too")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except PermissionError:
        return
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} is not a PEM file of certificates") from error


def require_hosts(hosts: Iterable[str]) -> None:
    """Raises ValueError if one is not the name or address of a host, without scheme and port."""
    for host in hosts:
        if not NAME.fullmatch(host) and not _is_address(host):
            raise ValueError(f"{host!r} is not the name of a host, without scheme and port")


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def require_file(path: Path | None) -> Path | None:
    """Returns the path. Raises ValueError if it names no readable file."""
    if path == Path():
        raise ValueError("is empty; name a file, or take the key out")
    try:
        is_file = path is None or path.is_file()
    except PermissionError:
        is_file = True  # who needs it fails then: a command of another user does not
    if not is_file:
        raise ValueError(f"{path} is not a file that can be read")
    return path
