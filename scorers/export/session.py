"""The exporter's HTTP session: reaches only the configured address, and keeps the last status.

Redirects fail; proxies and credentials of the environment (`HTTPS_PROXY`, netrc) are ignored. A
module of its own, so that `requests` and protobuf are imported only if HTTP is used.
"""

from __future__ import annotations

from typing import Any

import requests
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse


class Session(requests.Session):
    """`status` is the last reply's status, or why there was none; `rejected` counts log records."""

    def __init__(self) -> None:
        super().__init__()
        self.trust_env = False
        self.forget()

    def forget(self) -> None:
        """Clears `status` and `rejected` before a request."""
        self.status, self.rejected = "", 0

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        """Sends a request. Raises requests.RequestException, also for a redirect."""
        try:
            reply = super().send(request, **options)
        except requests.RequestException as error:
            self.status = str(error)
            raise
        self.status = f"{reply.status_code} {reply.reason}"
        if 300 <= reply.status_code < 400:  # the exporter would count it as a success
            raise requests.TooManyRedirects(self.status)
        if reply.status_code == 200 and request.url and request.url.endswith("/logs"):
            self.rejected = _rejected(reply.content)
        return reply


def _rejected(body: bytes) -> int:
    try:
        reply = ExportLogsServiceResponse.FromString(body)
    except DecodeError:  # JSON, or the page of a proxy: only the status counts then
        return 0
    return max(0, int(reply.partial_success.rejected_log_records))
