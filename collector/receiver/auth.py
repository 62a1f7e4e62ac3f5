"""Authentication: a token per listener, and an admin token for declared backfills."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from collector.refusal import Refusal, Refused
from collector.settings import CollectorSettings
from ragvigil.model.endpoint import is_loopback, split_endpoint

BACKFILL = "x-ragvigil-backfill"
MAX_BACKFILL_CHARACTERS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What a listener requires: everyone may send if `token` is None, `admin` may also backfill."""

    token: bytes | None = None
    admin: bytes | None = None
    is_loopback: bool = True


def access_of(settings: CollectorSettings, listener: str) -> Access:
    """The access of `grpc` or `http`. Reads the token files; raises OSError if it cannot."""
    host, _ = split_endpoint(getattr(settings, f"{listener}_endpoint"))
    return Access(
        token=_secret(
            getattr(settings, f"{listener}_token"), getattr(settings, f"{listener}_token_file")
        ),
        admin=_secret(settings.admin_token, settings.admin_token_file),
        is_loopback=is_loopback(host),
    )


def _secret(secret: SecretStr | None, path: Path | None) -> bytes | None:
    if secret is not None:
        return secret.get_secret_value().encode()
    return path.read_bytes().strip() if path is not None else None


def admit(headers: Mapping[str, str], access: Access) -> str:
    """Authenticates a request; returns the backfill run that it declares, empty for live traffic.

    `headers` has lower-case names. Raises Refused: UNAUTHENTICATED without a valid token,
    FORBIDDEN if this token may not declare a backfill, MALFORMED for a bad name of a run.
    """
    tokens = list(_tokens(headers.get("authorization", "")))
    is_admin = _is_among(access.admin, tokens)
    if access.token is not None and not is_admin and not _is_among(access.token, tokens):
        raise Refused(Refusal.UNAUTHENTICATED, "a token is needed: Authorization: Bearer TOKEN")
    run = headers.get(BACKFILL, "").strip()
    # On loopback without any token every sender is trusted like the admin.
    if run and not is_admin and not (access.is_loopback and access.token is None):
        raise Refused(Refusal.FORBIDDEN, f"{BACKFILL} needs the admin token on this listener")
    if len(run) > MAX_BACKFILL_CHARACTERS or not run.isprintable():
        raise Refused(
            Refusal.MALFORMED,
            f"{BACKFILL} is a name of at most {MAX_BACKFILL_CHARACTERS} characters",
        )
    return run


def _is_among(token: bytes | None, tokens: list[bytes]) -> bool:
    """Compares in constant time, so that timing does not reveal the token."""
    return token is not None and any(hmac.compare_digest(token, candidate) for candidate in tokens)


def _tokens(authorization: str) -> Iterator[bytes]:
    """The bearer token, or the password of basic authentication: Langfuse's exporters send that."""
    scheme, _, value = authorization.strip().partition(" ")
    if scheme.lower() == "bearer":
        yield value.strip().encode("utf-8", "surrogateescape")
    elif scheme.lower() == "basic":
        try:
            yield base64.b64decode(value.strip(), validate=True).partition(b":")[2]
        except (binascii.Error, ValueError):
            return
