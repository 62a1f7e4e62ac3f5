"""What the web application counts."""

from __future__ import annotations

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
WEB_CONNECTIONS = Gauge(
    "ragvigil_web_connections", "Open connections of the web's listener.", ["listener"]
)
WEB_CONNECTIONS_CLOSED = Counter(
    "ragvigil_web_connections_closed",
    "Connections that the web's listener closed or refused, by reason.",
    ["listener", "reason"],
)
