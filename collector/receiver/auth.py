"""Who may send: a token per listener, and an admin's token for declared backfills."""

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
    """What a listener asks for: `token` None takes everyone, `admin` may declare backfills too."""

    token: bytes | None = None
    admin: bytes | None = None
    is_loopback: bool = True


def access_of(settings: CollectorSettings, listener: str) -> Access:
    """The access of `grpc` or `http`; reads the token files, raises OSError where it cannot."""
    host, _ = split_endpoint(getattr(settings, f"{listener}_endpoint"))
    return Access(
        token=_secret(
            getattr(settings, f"{listener}_token"), getattr(settings, f"{listener}_token_file")
        ),
        admin=_secret(settings.admin_token, settings.admin_token_file),
        is_loopback=is_loopback(host),
    )


def _secret(written: SecretStr | None, path: Path | None) -> bytes | None:
    if written is not None:
        return written.get_secret_value().encode()
    return path.read_bytes().strip() if path is not None else None


def admit(headers: Mapping[str, str], access: Access) -> str:
    """The backfill run that the request declares, empty for live traffic.

    `headers` has lower-case names. Raises Refused: UNAUTHENTICATED without a token that the
    listener knows, FORBIDDEN for a backfill that this token may not declare.
    """
    sent = list(_tokens(headers.get("authorization", "")))
    is_admin = _is_among(access.admin, sent)
    if access.token is not None and not is_admin and not _is_among(access.token, sent):
        raise Refused(Refusal.UNAUTHENTICATED, "a token is needed: Authorization: Bearer TOKEN")
    run = headers.get(BACKFILL, "").strip()
    if run and not is_admin and not (access.is_loopback and access.token is None):
        raise Refused(Refusal.FORBIDDEN, f"{BACKFILL} needs the admin token on this listener")
    if len(run) > MAX_BACKFILL_CHARACTERS or not run.isprintable():
        raise Refused(
            Refusal.MALFORMED, f"{BACKFILL} is a name of at most {MAX_BACKFILL_CHARACTERS} signs"
        )
    return run


def _is_among(token: bytes | None, sent: list[bytes]) -> bool:
    """In constant time for each token sent."""
    return token is not None and any(hmac.compare_digest(token, given) for given in sent)


def _tokens(authorization: str) -> Iterator[bytes]:
    """A bearer token; of basic authentication the password, as Langfuse's exporters send it."""
    scheme, _, value = authorization.strip().partition(" ")
    if scheme.lower() == "bearer":
        yield value.strip().encode("utf-8", "surrogateescape")
    elif scheme.lower() == "basic":
        try:
            yield base64.b64decode(value.strip(), validate=True).partition(b":")[2]
        except (binascii.Error, ValueError):
            return
