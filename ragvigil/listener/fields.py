"""Types of settings that listeners and their clients share: PEM files, tokens, names of hosts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import AfterValidator, SecretStr, ValidationInfo

from ragvigil.model.endpoint import (
    require_authorities,
    require_file,
    require_fit,
    require_hosts,
    require_pair,
)
from ragvigil.model.token import require_given

Given = TypeVar("Given", SecretStr, Path)


def _token(given: Given) -> Given:
    require_given(given)
    return given


def _whole(key: Path | None, info: ValidationInfo) -> Path | None:
    require_pair(info.data.get("tls_certificate", key), key)
    return key


def _fits(key: Path | None, info: ValidationInfo) -> Path | None:
    require_fit(info.data.get("tls_certificate"), key)
    return key


def _authorities(path: Path) -> Path:
    require_authorities(path)
    return path


def _of_clients(path: Path, info: ValidationInfo) -> Path:
    require_authorities(path, has_tls=info.data.get("tls_key", True) is not None)
    return path


def _hosts(hosts: tuple[str, ...]) -> tuple[str, ...]:
    require_hosts(hosts)
    return hosts


ReadableFile = Annotated[Path, AfterValidator(require_file)]
Token = Annotated[SecretStr, AfterValidator(_token)]
TokenFile = Annotated[ReadableFile, AfterValidator(_token)]
TlsKey = Annotated[
    Path | None, AfterValidator(_whole), AfterValidator(require_file), AfterValidator(_fits)
]
"""The key of the field `tls_certificate` before it; validate the default, too."""
Authorities = Annotated[ReadableFile, AfterValidator(_authorities)]
ClientAuthorities = Annotated[ReadableFile, AfterValidator(_of_clients)]
"""Authorities of a listener's clients: stands behind `tls_key`, which they need."""
HostNames = Annotated[tuple[str, ...], AfterValidator(_hosts)]
