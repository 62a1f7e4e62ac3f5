"""Settings of `[web]`; the descriptions are the documentation."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationInfo, field_validator

from ragvigil.listener.fields import ClientAuthorities, HostNames, ReadableFile, TlsKey
from ragvigil.model.endpoint import require_guarded
from ragvigil.model.token import (
    NotAllowed,
    NoTokens,
    lines_of,
    read_token,
    require_consistent,
    require_token,
)


class Role(StrEnum):
    """A role of a token; `permissions.py` says what each may do."""

    INGEST = "ingest"
    READER = "reader"
    TRIAGER = "triager"
    APPROVER = "approver"
    ADMIN = "admin"


TOKENS = {f"{role}_token": role for role in Role}


class WebSettings(BaseModel):
    """The listener of pages and HTTP API."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    external_url: str = Field(
        default="", description="URL under which others reach it; links use it, its host is allowed"
    )
    runbook_url: str = Field(
        default="",
        description="address of the runbook that alerts link to; "
        "without it `/runbook` of the daemon",
    )
    allowed_hosts: HostNames = Field(
        default=(),
        description="further Host names to answer to, besides loopback, endpoint and external_url",
    )
    ingest_token: SecretStr | None = Field(
        default=None, description="may post feedback and deploys, reads nothing"
    )
    reader_token: SecretStr | None = Field(default=None, description="may read")
    triager_token: SecretStr | None = Field(
        default=None, description="may read, post, label and triage issues"
    )
    approver_token: SecretStr | None = Field(
        default=None, description="may also approve golden cases and new levels"
    )
    admin_token: SecretStr | None = Field(default=None, description="may do everything")
    tokens_file: ReadableFile | None = Field(
        default=None, description="file with further tokens, one `role token` a line"
    )
    tokens: NoTokens | None = Field(
        default=None,
        description='"none": nobody needs a token and everybody is admin, on loopback only; '
        "the same as no token at all, but written",
    )
    tls_certificate: ReadableFile | None = Field(
        default=None, description="PEM file; with tls_key: HTTPS"
    )
    tls_key: TlsKey = Field(
        default=None, validate_default=True, description="PEM file of the certificate's key"
    )
    tls_client_ca: ClientAuthorities | None = Field(
        default=None,
        description="PEM file of authorities; a client must show a certificate that one signed, "
        "besides its token",
    )
    insecure: bool = Field(
        default=False, description="allow an address that is not loopback without TLS"
    )
    max_body_bytes: int = Field(
        default=262_144, ge=1024, description="largest request body; longer ones get 413"
    )
    max_connections: int = Field(
        default=256, ge=16, description="connections at the same time, half of them for one address"
    )
    endpoint: str = Field(default="127.0.0.1:8088", description="address of pages and API")

    @field_validator("external_url", "runbook_url")
    @classmethod
    def _is_a_url(cls, url: str) -> str:
        if url and (urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).hostname):
            raise ValueError(f"{url} is not a URL that begins with http:// or https://")
        return url.rstrip("/")

    @property
    def runbook(self) -> str:
        """The runbook's address, without an anchor."""
        scheme = "https" if self.tls_key else "http"
        base = self.external_url or f"{scheme}://{self.endpoint}"
        return self.runbook_url or f"{base}/runbook"

    @field_validator(*TOKENS)
    @classmethod
    def _is_a_token_of_one_role(
        cls, token: SecretStr | None, info: ValidationInfo
    ) -> SecretStr | None:
        if token is not None:
            role = _written(info.data).get(read_token(token))
            if role is not None:
                raise ValueError(f"is the token of the role {role} too")
        return token

    @field_validator("tokens_file")
    @classmethod
    def _holds_tokens(cls, path: Path | None, info: ValidationInfo) -> Path | None:
        if path is not None:
            with suppress(NotAllowed):  # see require_given
                _in_file(path, _written(info.data))
        return path

    @field_validator("tokens")
    @classmethod
    def _none_is_meant(cls, none: NoTokens | None, info: ValidationInfo) -> NoTokens | None:
        require_consistent(none, [key for key in (*TOKENS, "tokens_file") if info.data.get(key)])
        return none

    @field_validator("endpoint")
    @classmethod
    def _is_guarded(cls, endpoint: str, info: ValidationInfo) -> str:
        given = info.data  # a key that is wrong is missing here, and has its own sentence
        require_guarded(
            endpoint,
            has_token=any(given.get(key, True) for key in (*TOKENS, "tokens_file")),
            has_tls=given.get("tls_key", True) is not None,
            insecure=bool(given.get("insecure", True)),
            none=given.get("tokens") is not None,
        )
        return endpoint

    def roles(self) -> dict[str, Role] | None:
        """The role of every token, None where the settings give no token and none is needed.

        Raises ValueError if `tokens_file` holds none any more, or a line that is wrong.
        """
        written = _written(vars(self))
        if self.tokens_file is not None:
            return _in_file(self.tokens_file, written)
        return written or None

    def secret(self, role: str) -> str | None:
        """A token of this role, else of a stronger one; None where no such token is set."""
        least = Role(role)
        ranks = (Role.READER, Role.TRIAGER, Role.APPROVER, Role.ADMIN)
        # A reader may not post: in place of an ingest token the ranks begin with the triager.
        stronger = ranks[ranks.index(least) :] if least in ranks else ranks[1:]
        by_role = {each: token for token, each in (self.roles() or {}).items()}
        return next((by_role[each] for each in (least, *stronger) if each in by_role), None)


def _written(values: Mapping[str, Any]) -> dict[str, Role]:
    """The role of every token that is a setting of its own."""
    given = {role: values.get(key) for key, role in TOKENS.items()}
    return {token.get_secret_value(): role for role, token in given.items() if token}


def _in_file(path: Path, written: Mapping[str, Role]) -> dict[str, Role]:
    """The roles of `written` and of the file's tokens.

    Raises ValueError if the file has no token, or a line that is not `role token` or gives a token
    a second role. It names the line by its number, never by its text, which may be a token.
    """
    roles = dict(written)
    number = 0
    for number, line in lines_of(path):
        role, token = _role_and_token(line, f"{path}:{number}")
        if roles.setdefault(token, role) is not role:
            raise ValueError(f"{path}:{number}: is the token of the role {roles[token]} too")
    if not number:
        raise ValueError(f"{path} holds no token; write one `role token` a line")
    return roles


def _role_and_token(line: str, where: str) -> tuple[Role, str]:
    role, _, token = line.replace("\t", " ").partition(" ")
    try:
        return Role(role), require_token(token.strip())
    except ValueError as error:
        raise ValueError(
            f"{where}: is not a line of the form `role token`; roles: {', '.join(Role)}"
        ) from error
