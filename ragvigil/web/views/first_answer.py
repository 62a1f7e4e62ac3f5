"""What a reader is told before the first answer has arrived: where to send, and how. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ragvigil.model import figures
from ragvigil.model.endpoint import EVERY_HOST, split_endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to connect a service: `code` is to be copied."""

    title: str
    words: str
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstAnswer:
    """`listening` says where; `arrived` what has come so far."""

    listening: str
    arrived: str
    ways: tuple[Way, ...]


def first_answer(status: Mapping[str, Any], host: str) -> FirstAnswer | None:
    """Three ways to send to this daemon; None where its status does not say where it listens.

    `host` is the name under which the reader reached this page: where the daemon listens on every
    address, a service reaches it under the same.
    """
    if "listens" not in status:
        return None
    listens = status["listens"]
    http, grpc = (_address(listens[name], host) for name in ("http", "grpc"))
    return FirstAnswer(
        listening=f"{http} over HTTP, {grpc} over gRPC",
        arrived=_arrived(status["spans"]["acknowledged"], status["daemon"]["up_seconds"]),
        ways=(_variables(http, listens), _collector(grpc, listens), SIDECAR),
    )


def _address(endpoint: str, host: str) -> str:
    """The address under which a service reaches a listener.

    >>> _address("0.0.0.0:4318", "rag.example"), _address("127.0.0.1:4318", "localhost")
    ('rag.example:4318', '127.0.0.1:4318')
    """
    name, port = split_endpoint(endpoint)
    if name not in EVERY_HOST:
        return endpoint
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _arrived(spans: int, seconds: float) -> str:
    """What has come since the daemon started.

    >>> _arrived(0, 240), _arrived(12, 240)
    ('Nothing received in 4 min.', '12 spans received, none of them an answer yet.')
    """
    if not spans:
        return f"Nothing received in {figures.duration(seconds)}."
    return f"{figures.counted(spans, 'span')} received, none of them an answer yet."


def _variables(address: str, listens: Mapping[str, Any]) -> Way:
    scheme = "https" if listens["tls"] else "http"
    lines = [
        f"export OTEL_EXPORTER_OTLP_ENDPOINT={scheme}://{address}",
        "export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf",
    ]
    if listens["token"]:
        lines.append('export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20YOUR-TOKEN"')
    words = "Your service exports OpenTelemetry itself. Set these and start it again."
    return Way(title="Environment variables", words=words, code="\n".join(lines))


def _collector(address: str, listens: Mapping[str, Any]) -> Way:
    parts = [f'endpoint: "{address}"']
    if not listens["tls"]:
        parts.append("tls: { insecure: true }")
    if listens["token"]:
        parts.append('headers: { authorization: "Bearer ${env:RAGVIGIL_TOKEN}" }')
    lines = (
        "exporters:",
        f"  otlp/ragvigil: {{ {', '.join(parts)} }}",
        "service:",
        "  pipelines:",
        "    traces: { exporters: [otlp/your-backend, otlp/ragvigil] }",
        "    logs: { exporters: [otlp/your-backend, otlp/ragvigil] }",
    )
    words = "A Collector runs already. It sends a copy here and keeps sending where it sends today."
    return Way(title="Six lines in your Collector", words=words, code="\n".join(lines))


SIDECAR = Way(
    title="A container beside yours",
    words="Your service runs in Kubernetes. Add this container to its pod.",
    code="ragvigil deploy print sidecar --to ragvigil\n"
    "kubectl patch deployment YOUR-SERVICE --patch-file ragvigil/sidecar.yaml",
)
