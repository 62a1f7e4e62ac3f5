"""Clients that speak another protocol than a listener: recognised by their first bytes, and told.

The hint names settings: whoever runs the service reads it in the exporter's error, whoever runs
ragvigil in its log.
"""

from __future__ import annotations

from enum import StrEnum

from ragvigil.listener.sparse_log import SparseLog

SETTINGS = {
    "otlp_grpc": "[collector] grpc_endpoint",
    "otlp_http": "[collector] http_endpoint",
    "metrics": "[metrics] endpoint",
    "web": "[web] endpoint",
}
"""The setting of each listener's address, by its name in the metrics."""
PREFACE = b"PRI * HTTP/2.0"
METHODS = (b"GET ", b"POST ", b"PUT ", b"HEAD ", b"OPTIONS ", b"PATCH ", b"DELETE ", PREFACE)
TLS_HANDSHAKE = b"\x16\x03"
PEEKED_BYTES = len(PREFACE)
EXPORTS = ("/v1/traces", "/v1/logs", "/v1/metrics")


class Mistake(StrEnum):
    """What came to the wrong listener."""

    GRPC = "gRPC"
    TLS = "TLS"
    NO_TLS = "no TLS"
    NO_HTTP = "no HTTP"
    OTLP = "OTLP"


def mistake_of(first: bytes, *, has_tls: bool) -> Mistake | None:
    """What the first bytes of a connection to an HTTP/1.1 listener show.

    >>> mistake_of(b"PRI * HTTP/2.0", has_tls=False), mistake_of(b"GET / HTTP/1.1", has_tls=False)
    (<Mistake.GRPC: 'gRPC'>, None)
    """
    if has_tls:
        return Mistake.NO_TLS if first.startswith(METHODS) else None
    if first.startswith(TLS_HANDSHAKE):
        return Mistake.TLS
    return Mistake.GRPC if first.startswith(PREFACE) else None


def hint(mistake: Mistake, listener: str) -> str:
    """One sentence: what came where, and where it belongs.

    >>> hint(Mistake.TLS, "web")
    'TLS came to [web] endpoint, which has none: use http://, or set tls_certificate and tls_key'
    """
    setting = SETTINGS.get(listener, listener)
    grpc, http = SETTINGS["otlp_grpc"], SETTINGS["otlp_http"]
    return {
        Mistake.GRPC: f"gRPC came to {setting}, which speaks HTTP/1.1: OTLP/gRPC goes to {grpc} "
        f"(usually port 4317), OTLP/HTTP to {http} (4318)",
        Mistake.TLS: f"TLS came to {setting}, which has none: use http://, or set tls_certificate "
        f"and tls_key",
        Mistake.NO_TLS: f"plain text came to {setting}, which has TLS: use https://",
        Mistake.NO_HTTP: f"what came to {setting} cannot be read as HTTP/1.1",
        Mistake.OTLP: f"OTLP came to {setting}: OTLP/HTTP goes to {http} (usually port 4318)",
    }[mistake]


def is_export(method: str, path: str) -> bool:
    """Whether a request is one of OTLP/HTTP; below another path, too, if one was set as its base.

    >>> is_export("POST", "/v1/traces"), is_export("GET", "/api/v1/traces/1")
    (True, False)
    """
    return method == "POST" and path.rstrip("/").endswith(EXPORTS)


class Mistakes:
    """Logs the mistakes of a listener's clients. For one event loop."""

    def __init__(self, listener: str) -> None:
        self._listener = listener
        self._log = SparseLog()

    def note(self, mistake: Mistake, peer: str) -> str:
        """Logs it, at most once a minute; returns the hint for its client."""
        sentence = hint(mistake, self._listener)
        self._log.warn("clients speak the wrong protocol", kind=mistake, hint=sentence, peer=peer)
        return sentence
