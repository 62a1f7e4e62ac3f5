"""Settings of `[collector]`; the descriptions are the documentation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationInfo, field_validator

from collector.assembly.settings import AssemblyLimits
from collector.redaction.settings import RedactSettings
from ragvigil.listener.fields import (
    ClientAuthorities,
    HostNames,
    ReadableFile,
    TlsKey,
    Token,
    TokenFile,
)
from ragvigil.model.endpoint import require_guarded
from ragvigil.model.token import NotAllowed, NoTokens, read_token, require_consistent

TOKENS = tuple(
    f"{name}_token{form}" for name in ("grpc", "http", "admin") for form in ("", "_file")
)
"""The keys that give a token."""


class LimitSettings(BaseModel):
    """Limits of a request; a request beyond them is refused and counted."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_body_bytes: int = Field(
        default=64 << 20, ge=1024, description="largest request body, after decompression"
    )
    max_in_flight_bytes: int = Field(
        default=64 << 20,
        ge=1024,
        description="bytes of request bodies in memory at the same time; beyond it requests are "
        "refused with a time to retry after",
    )
    max_requests_per_second: float | None = Field(
        default=None,
        gt=0,
        description="requests a second with one token, those of 10 seconds at once; further ones "
        "are refused with a time to retry after; without it as many as come",
    )
    max_items: int = Field(
        default=10_000, ge=1, description="most spans or log records in a request"
    )
    max_nesting: int = Field(
        default=20, ge=1, le=20, description="deepest list or map within an attribute value"
    )
    max_connections: int = Field(
        default=1_000,
        ge=16,
        description="connections of each OTLP listener, half of them for one address that is not "
        "loopback; fewer where the limit of open files is lower",
    )


class RouteSettings(BaseModel):
    """`[collector.routes]`: the names under which answers are counted."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rules: dict[str, str] = Field(
        default={},
        description="from a regular expression for a whole route to the name it is counted under, "
        "which may use groups (`\\1`); tried in order, before digits and ids are replaced",
    )
    max_routes: int = Field(
        default=200, ge=1, description="most routes of a service; further ones count as `__other__`"
    )

    @field_validator("rules")
    @classmethod
    def _rules_compile(cls, rules: dict[str, str]) -> dict[str, str]:
        for expression, name in rules.items():
            try:
                re.compile(expression)
            except re.error as error:
                raise ValueError(f"{expression} is not a regular expression: {error}") from error
            try:
                re.sub(
                    f"{expression}|", name, ""
                )  # `|` matches the empty text, so the template is checked
            except (re.error, IndexError) as error:
                raise ValueError(f"{name} is no name for {expression}: {error}") from error
        return rules


class CollectorSettings(BaseModel):
    """The OTLP listeners, their authentication and limits, and redaction."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    insecure: bool = Field(
        default=False, description="allow an address that is not loopback without TLS"
    )
    tls_certificate: ReadableFile | None = Field(
        default=None, description="PEM file for both listeners; with tls_key it turns TLS on"
    )
    tls_key: TlsKey = Field(
        default=None, validate_default=True, description="PEM file of the certificate's key"
    )
    tls_client_ca: ClientAuthorities | None = Field(
        default=None,
        description="PEM file of authorities; a sender must show a certificate that one signed",
    )
    grpc_token: Token | None = Field(
        default=None, description="token that OTLP/gRPC requires; not needed on loopback"
    )
    grpc_token_file: TokenFile | None = Field(
        default=None, description="file with the token, instead of the token itself"
    )
    http_token: Token | None = Field(
        default=None, description="token that OTLP/HTTP requires; not needed on loopback"
    )
    http_token_file: TokenFile | None = Field(
        default=None, description="file with the token, instead of the token itself"
    )
    admin_token: Token | None = Field(
        default=None, description="token that may also declare a backfill, on both listeners"
    )
    admin_token_file: TokenFile | None = Field(
        default=None, description="file with the token, instead of the token itself"
    )
    tokens: NoTokens | None = Field(
        default=None,
        description='"none": no sender needs a token, on loopback only; '
        "the same as no token at all, but written",
    )
    allowed_hosts: HostNames = Field(
        default=(),
        description="further Host names that OTLP/HTTP answers to on loopback; elsewhere a token "
        "is needed, and any name will do",
    )
    grpc_endpoint: str = Field(default="127.0.0.1:4317", description="address of OTLP/gRPC")
    http_endpoint: str = Field(default="127.0.0.1:4318", description="address of OTLP/HTTP")
    limits: LimitSettings = LimitSettings()
    assembly: AssemblyLimits = AssemblyLimits()
    redact: RedactSettings = RedactSettings()
    routes: RouteSettings = RouteSettings()

    @field_validator("admin_token", "admin_token_file")
    @classmethod
    def _is_not_a_senders(
        cls, given: SecretStr | Path | None, info: ValidationInfo
    ) -> SecretStr | Path | None:
        with suppress(NotAllowed):
            for name in ("grpc", "http"):
                if given is not None and read_token(given) == _token_of(info.data, name):
                    raise ValueError(f"is the token of OTLP/{name} too: every sender is admin")
        return given

    @field_validator("tokens")
    @classmethod
    def _none_is_meant(cls, none: NoTokens | None, info: ValidationInfo) -> NoTokens | None:
        require_consistent(none, [key for key in TOKENS if info.data.get(key)])
        return none

    @field_validator("grpc_endpoint", "http_endpoint")
    @classmethod
    def _is_guarded(cls, endpoint: str, info: ValidationInfo) -> str:
        key = str(info.field_name).replace("endpoint", "token")
        given = info.data  # a key that is wrong is missing here, and has its own sentence
        require_guarded(
            endpoint,
            has_token=bool(given.get(key, True) or given.get(f"{key}_file", True)),
            has_tls=given.get("tls_key", True) is not None,
            insecure=bool(given.get("insecure", True)),
            none=given.get("tokens") is not None,
        )
        return endpoint

    def token(self, name: str) -> str | None:
        """The token of `grpc`, `http` or `admin`, None where none is set.

        Raises ValueError if its file holds none any more.
        """
        return _token_of(vars(self), name)


def _token_of(values: Mapping[str, Any], name: str) -> str | None:
    given = values.get(f"{name}_token") or values.get(f"{name}_token_file")
    return None if given is None else read_token(given)
