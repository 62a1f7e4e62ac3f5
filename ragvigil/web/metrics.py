"""What the web application counts."""

from __future__ import annotations

from enum import StrEnum

from prometheus_client import Counter, Gauge

ANSWERS = Counter(
    "ragvigil_api_answers",
    "Answers to reads of the API: made for this request, shared with others that asked at the same "
    "time, or kept from before.",
    ["source"],
)
REFUSED = Counter(
    "ragvigil_api_refused", "Reads of the API answered 503: they would have waited long.", ["route"]
)
ABANDONED = Counter(
    "ragvigil_api_abandoned", "Reads of the API whose clients left before the answer.", ["route"]
)


class Foreign(StrEnum):
    """What of a request was another site's; a label of `ragvigil_web_foreign_total`."""

    HOST = "host"
    """It asked for a Host name that is not served."""
    ORIGIN = "origin"
    """A page of another site sent it."""


FOREIGN = Counter(
    "ragvigil_web_foreign", "Requests to the web refused as another site's, by reason.", ["reason"]
)
WEB_CONNECTIONS = Gauge(
    "ragvigil_web_connections", "Open connections of the web's listener.", ["listener"]
)
WEB_CONNECTIONS_CLOSED = Counter(
    "ragvigil_web_connections_closed",
    "Connections that the web's listener closed or refused, by reason.",
    ["listener", "reason"],
)
