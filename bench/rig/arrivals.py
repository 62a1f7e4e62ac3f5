"""When each record became durable: a receiver of the daemon's results notes the time."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)

RUBRIC = "refusal"
"""One result a record is enough, and this rubric is always scored or not applicable."""


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Monotonic seconds of arrival by trace id; `settings` make a daemon send its results here."""

    settings: Mapping[str, str]
    seconds: dict[bytes, float] = field(default_factory=dict)

    def note(self, body: bytes, now: float) -> None:
        """Notes when the records of an export request came."""
        for resource in ExportLogsServiceRequest.FromString(body).resource_logs:
            for scope in resource.scope_logs:
                for log in scope.log_records:
                    self.seconds.setdefault(log.trace_id, now)


@contextmanager
def arrivals() -> Iterator[Arrivals]:
    """Listens on a free port until the end of the block."""

    class Receiver(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            now = time.monotonic()
            body = self.rfile.read(int(self.headers["content-length"]))
            is_packed = self.headers["content-encoding"] == "gzip"
            seen.note(gzip.decompress(body) if is_packed else body, now)
            answer = ExportLogsServiceResponse().SerializeToString()
            self.send_response(200)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        seen = Arrivals(_settings(server.server_port))
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield seen
        finally:
            server.shutdown()


def _settings(port: int) -> dict[str, str]:
    return {
        "RAGVIGIL_EXPORT__PROTOCOL": "http/protobuf",
        "RAGVIGIL_EXPORT__ENDPOINT": f"http://127.0.0.1:{port}",
        "RAGVIGIL_EXPORT__RUBRICS": f'["{RUBRIC}"]',
        "RAGVIGIL_EXPORT__NOT_APPLICABLE": "true",
        "RAGVIGIL_EXPORT__MAX_QUEUE": "100000",
    }
