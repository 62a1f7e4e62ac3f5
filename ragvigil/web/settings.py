"""Settings of `[web]`; the descriptions are the documentation."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationInfo, field_validator

from ragvigil.model.endpoint import require_file, require_guarded, require_pair


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
    allowed_hosts: tuple[str, ...] = Field(
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
    tokens_file: Path | None = Field(
        default=None, description="file with further tokens, one `role token` a line"
    )
    tls_certificate: Path | None = Field(default=None, description="PEM file; with tls_key: HTTPS")
    tls_key: Path | None = Field(
        default=None, validate_default=True, description="PEM file of the certificate's key"
    )
    insecure: bool = Field(default=False, description="allow an open address without token and TLS")
    max_body_bytes: int = Field(
        default=262_144, ge=1024, description="largest request body; longer ones get 413"
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

    @field_validator("tls_key")
    @classmethod
    def _tls_is_whole(cls, key: Path | None, info: ValidationInfo) -> Path | None:
        require_pair(info.data.get("tls_certificate", key), key)
        return key

    @field_validator("tokens_file", "tls_certificate", "tls_key")
    @classmethod
    def _file_exists(cls, path: Path | None) -> Path | None:
        return require_file(path)

    @field_validator("endpoint")
    @classmethod
    def _is_guarded(cls, endpoint: str, info: ValidationInfo) -> str:
        given = info.data
        require_guarded(
            endpoint,
            has_token=any(given.get(key) for key in (*TOKENS, "tokens_file")),
            has_tls=given.get("tls_key") is not None,
            insecure=bool(given.get("insecure")),
        )
        return endpoint

    def _written(self) -> dict[str, Role]:
        written = {role: getattr(self, key) for key, role in TOKENS.items()}
        return {token.get_secret_value(): role for role, token in written.items() if token}

    def tokens(self) -> dict[str, Role]:
        """Every token and its role; empty where no token is needed.

        Raises ValueError on a line of `tokens_file` that is not `role token`; it names the line by
        its number, never by its text, which may be a token. Raises OSError on an unreadable file.
        """
        tokens = self._written()
        if self.tokens_file is None:
            return tokens
        lines = self.tokens_file.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, start=1):
            if line.strip() and not line.startswith("#"):
                role, token = _role_and_token(line, f"{self.tokens_file}:{number}")
                tokens[token] = role
        return tokens

    def secret(self, role: str) -> str | None:
        """A token of this role, else of a stronger one; None where no such token is set."""
        least = Role(role)
        ranks = (Role.READER, Role.TRIAGER, Role.APPROVER, Role.ADMIN)
        # A reader may not post: in place of an ingest token the ranks begin with the triager.
        stronger = ranks[ranks.index(least) :] if least in ranks else ranks[1:]
        by_role = {each: token for token, each in self.tokens().items()}
        return next((by_role[each] for each in (least, *stronger) if each in by_role), None)


def _role_and_token(line: str, where: str) -> tuple[Role, str]:
    role, _, token = line.strip().partition(" ")
    if role not in set(Role) or not token.strip():
        raise ValueError(
            f"{where}: is not a line of the form `role token`; roles: {', '.join(Role)}"
        )
    return Role(role), token.strip()
