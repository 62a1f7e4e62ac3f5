"""Settings of `[collector]`; the descriptions are the documentation."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationInfo, field_validator

from collector.assembly.settings import AssemblyLimits
from collector.redaction.settings import RedactSettings
from ragvigil.model.endpoint import require_guarded, split_endpoint


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
    max_items: int = Field(
        default=10_000, ge=1, description="most spans or log records in a request"
    )
    max_nesting: int = Field(
        default=20, ge=1, le=20, description="deepest list or map within an attribute value"
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

    insecure: bool = Field(default=False, description="allow an open address without token and TLS")
    tls_certificate: Path | None = Field(
        default=None, description="PEM file for both listeners; with tls_key it turns TLS on"
    )
    tls_key: Path | None = Field(
        default=None, validate_default=True, description="PEM file of the certificate's key"
    )
    grpc_token: SecretStr | None = Field(
        default=None, description="token that OTLP/gRPC requires; not needed on loopback"
    )
    grpc_token_file: Path | None = Field(
        default=None, description="file with the token, instead of the token itself"
    )
    http_token: SecretStr | None = Field(
        default=None, description="token that OTLP/HTTP requires; not needed on loopback"
    )
    http_token_file: Path | None = Field(
        default=None, description="file with the token, instead of the token itself"
    )
    admin_token: SecretStr | None = Field(
        default=None, description="token that may also declare a backfill, on both listeners"
    )
    admin_token_file: Path | None = Field(
        default=None, description="file with the token, instead of the token itself"
    )
    grpc_endpoint: str = Field(default="127.0.0.1:4317", description="address of OTLP/gRPC")
    http_endpoint: str = Field(default="127.0.0.1:4318", description="address of OTLP/HTTP")
    limits: LimitSettings = LimitSettings()
    assembly: AssemblyLimits = AssemblyLimits()
    redact: RedactSettings = RedactSettings()
    routes: RouteSettings = RouteSettings()

    @field_validator("tls_key")
    @classmethod
    def _tls_is_whole(cls, key: Path | None, info: ValidationInfo) -> Path | None:
        certificate = info.data.get("tls_certificate", key)
        if (key is None) != (certificate is None):
            given = "tls_key" if certificate is None else "tls_certificate"
            raise ValueError(f"only {given} is set; give both tls_certificate and tls_key, or none")
        return key

    @field_validator(
        "tls_certificate", "tls_key", "grpc_token_file", "http_token_file", "admin_token_file"
    )
    @classmethod
    def _file_exists(cls, path: Path | None) -> Path | None:
        if path is not None and not path.is_file():
            raise ValueError(f"{path} is not a file that can be read")
        return path

    @field_validator("grpc_endpoint", "http_endpoint")
    @classmethod
    def _is_guarded(cls, endpoint: str, info: ValidationInfo) -> str:
        split_endpoint(endpoint)
        name = str(info.field_name).removesuffix("_endpoint")
        given = info.data
        require_guarded(
            endpoint,
            has_token=bool(given.get(f"{name}_token") or given.get(f"{name}_token_file")),
            has_tls=bool(given.get("tls_certificate") and given.get("tls_key")),
            insecure=bool(given.get("insecure")),
        )
        return endpoint
