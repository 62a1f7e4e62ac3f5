"""The exporter's HTTP session: to the configured address alone, and it remembers what was said.

Redirects fail; proxies and credentials of the environment (`HTTPS_PROXY`, netrc) are left alone.
"""

from __future__ import annotations

from typing import Any

import requests
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse


class Session(requests.Session):
    """`said` is the last reply's status, or why there was none; `rejected` counts log records."""

    def __init__(self) -> None:
        super().__init__()
        self.trust_env = False
        self.forget()

    def forget(self) -> None:
        """Begins anew."""
        self.said, self.rejected = "", 0

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        """The reply. Raises requests.RequestException, for a redirect too."""
        try:
            reply = super().send(request, **options)
        except requests.RequestException as error:
            self.said = str(error)
            raise
        self.said = f"{reply.status_code} {reply.reason}"
        if 300 <= reply.status_code < 400:  # the exporter would take it for a success
            raise requests.TooManyRedirects(self.said)
        if reply.status_code == 200 and request.url and request.url.endswith("/logs"):
            self.rejected = _rejected(reply.content)
        return reply


def _rejected(body: bytes) -> int:
    try:
        reply = ExportLogsServiceResponse.FromString(body)
    except DecodeError:  # JSON, or a proxy's page: the status is what counts
        return 0
    return max(0, int(reply.partial_success.rejected_log_records))
