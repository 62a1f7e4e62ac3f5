"""Who may send: a token per listener, an admin token for backfills, the Host name of OTLP/HTTP."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from collector.refusal import Refusal, Refused
from collector.settings import CollectorSettings
from ragvigil.model.endpoint import answers_to, is_loopback, split_endpoint
from ragvigil.model.token import bearer, is_same, read_former

BACKFILL = "x-ragvigil-backfill"
MAX_BACKFILL_CHARACTERS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What a listener requires: everyone may send if `token` is None, `admin` may also backfill.

    `former` is a token that still counts as `token` does, while senders change to the new one.
    `hosts` are the Host names that a listener on loopback answers to, besides its own.
    """

    token: str | None = None
    former: str | None = None
    admin: str | None = None
    is_loopback: bool = True
    hosts: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether every sender may do everything: on loopback, where the settings give no token."""
        return self.is_loopback and self.token is None and self.admin is None


def access_of(settings: CollectorSettings, listener: str) -> Access:
    """The access of `grpc` or `http`. Raises ValueError if a token file holds none any more."""
    host, _ = split_endpoint(getattr(settings, f"{listener}_endpoint"))
    return Access(
        token=settings.token(listener),
        former=read_former(getattr(settings, f"{listener}_token_file")),
        admin=settings.token("admin"),
        is_loopback=is_loopback(host),
        hosts=settings.allowed_hosts,
    )


def headers_of(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Headers by name. Values of a repeated name are joined, as HTTP says.

    So of two `Authorization` headers neither counts: no token has a comma and a space in it.
    """
    headers: dict[str, str] = {}
    for name, value in pairs:
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def require_host(headers: Mapping[str, str], access: Access) -> None:
    """Raises Refused (HOST) if a listener on loopback is asked under a foreign name.

    OTLP/gRPC needs no such check: without TLS browsers speak no HTTP/2, and with TLS the
    certificate does not have the foreign name.
    """
    if access.is_loopback and not answers_to(headers.get("host", ""), access.hosts):
        raise Refused(
            Refusal.HOST, "this Host name is not served; list it in [collector] allowed_hosts"
        )


def admit(headers: Mapping[str, str], access: Access) -> str:
    """Authenticates a request; returns the backfill run that it declares, empty for live traffic.

    `headers` has lower-case names. Raises Refused: UNAUTHENTICATED without a valid token,
    FORBIDDEN if this token may not declare a backfill, MALFORMED for a bad name of a run.
    """
    sent = _sent(headers.get("authorization", ""))
    is_admin = access.is_open or is_same(access.admin or "", sent)
    is_sender = is_same(access.token or "", sent) or is_same(access.former or "", sent)
    if access.token is not None and not is_admin and not is_sender:
        raise Refused(Refusal.UNAUTHENTICATED, "a token is needed: Authorization: Bearer TOKEN")
    run = headers.get(BACKFILL, "").strip()
    if run and not is_admin:
        raise Refused(Refusal.FORBIDDEN, f"{BACKFILL} needs the admin token on this listener")
    if len(run) > MAX_BACKFILL_CHARACTERS or not run.isprintable():
        raise Refused(
            Refusal.MALFORMED,
            f"{BACKFILL} is a name of at most {MAX_BACKFILL_CHARACTERS} characters",
        )
    return run


def sender(headers: Mapping[str, str], access: Access) -> str:
    """The token by which an admitted request is counted, empty for none of this listener's.

    Not the header: one token can be written in many ways, and where none is needed any will do.
    """
    sent = _sent(headers.get("authorization", ""))
    tokens = (access.token, access.former, access.admin)
    return sent if any(is_same(token or "", sent) for token in tokens) else ""


def _sent(authorization: str) -> str:
    """The bearer token, or the password of basic authentication: Langfuse's exporters send that."""
    scheme, _, value = authorization.strip().partition(" ")
    if scheme.lower() != "basic":
        return bearer(authorization)
    try:
        pair = base64.b64decode(value.strip(), validate=True)
        return pair.partition(b":")[2].decode("ascii")
    except ValueError:  # not base64, or not ASCII, as every token is
        return ""
