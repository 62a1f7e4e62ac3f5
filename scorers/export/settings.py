"""Settings of `[export]`; the descriptions are the documentation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from ragvigil.model.endpoint import require_file
from ragvigil.model.score import Stream

HEADER = re.compile(r"([A-Za-z0-9!#$%&'*+.^_`|~-]+):[ \t]*([\x21-\x7e][\x20-\x7e]*)")


class ExportSettings(BaseModel):
    """Which results are exported as OpenTelemetry's evaluation results, and to which receiver."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    # Before `endpoint`, since pydantic validates in this order and its check reads it.
    protocol: Literal["grpc", "http/protobuf"] = Field(
        default="grpc", description="protocol of the receiver: `grpc` or `http/protobuf`"
    )
    endpoint: str = Field(
        default="",
        description="OTLP receiver of every result as `gen_ai.evaluation.result`: "
        "http://host:4317, https://host/path (over HTTP, v1/logs or v1/traces is added); "
        "empty is none",
    )
    form: Literal["events", "spans"] = Field(
        default="events",
        description="`events` are log records of the judged span, as the convention says; "
        "`spans` are EVALUATOR spans that link to it, for receivers that accept only traces",
    )
    headers_file: Path | None = Field(
        default=None,
        description="file of headers to send, `Name: value` per line; those of "
        "OTEL_EXPORTER_OTLP_HEADERS are sent too",
    )
    ca_file: Path | None = Field(
        default=None, description="PEM file of the authority that signed the receiver's certificate"
    )
    timeout_seconds: float = Field(
        default=10.0, gt=0, le=120, description="timeout per request, retries included"
    )
    max_queue: int = Field(
        default=2048,
        ge=1,
        le=100_000,
        description="most answers whose results wait to be sent; more are counted and dropped",
    )
    rubrics: tuple[str, ...] = Field(
        default=(), description="names of the rubrics to export; empty is all"
    )
    streams: tuple[Stream, ...] = Field(
        default=(Stream.BASE, Stream.BOOST, Stream.SUSPICIOUS, Stream.AUDIT),
        description="streams to export; only `base` is a uniform sample of the traffic",
    )
    explanations: bool = Field(
        default=False, description="send explanations too, which may quote questions and answers"
    )
    not_applicable: bool = Field(
        default=False, description="export what does not apply too, without a value, never as 0"
    )
    backfill: bool = Field(default=False, description="export replayed and imported traffic too")

    def takes(self, backfill: str) -> bool:
        """Whether results of a trace are exported; `backfill` names its backfill, "" is live."""
        return bool(self.endpoint) and (self.backfill or not backfill)

    @field_validator("endpoint")
    @classmethod
    def _is_an_address(cls, url: str, info: ValidationInfo) -> str:
        if not url:
            return url
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("must be http://host:port, https://host:port/path, or empty")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("an address only: what is secret belongs into headers_file")
        if info.data.get("protocol") == "grpc" and parts.path.strip("/"):
            raise ValueError('gRPC has no path: remove it, or set protocol = "http/protobuf"')
        return url.rstrip("/")

    @field_validator("headers_file")
    @classmethod
    def _headers_read(cls, path: Path | None) -> Path | None:
        if require_file(path) is not None:
            read_headers(path)
        return path

    @field_validator("ca_file")
    @classmethod
    def _file_exists(cls, path: Path | None) -> Path | None:
        return require_file(path)

    @property
    def is_encrypted(self) -> bool:
        """Whether the connection is encrypted."""
        return self.endpoint.startswith("https:")


def read_headers(path: Path | None) -> dict[str, str]:
    """Reads the headers of a file, names in lower case; none without a file.

    Raises ValueError with the number of a bad line, never its text, which may be a secret; OSError.
    """
    headers: dict[str, str] = {}
    if path is None:
        return headers
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        header = HEADER.fullmatch(line.strip())
        if header is None:
            raise ValueError(f"{path}: line {number} is not of the form Name: value")
        headers[header[1].lower()] = header[2]
    return headers
