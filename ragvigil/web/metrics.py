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


class Refusal(StrEnum):
    """Why a request was refused for who sent it; a label of `ragvigil_web_identity_refused`."""

    TOKEN_IN_URL = "token_in_url"
    """Its address held a token."""
    PROXY_ADDRESS = "proxy_address"
    """The trusted proxy's header came from another address."""
    PROXY_PERSON = "proxy_person"
    """The proxy named nobody who has a role."""
    SESSION = "session"
    """Its cookie was forged, too old, signed out, or of a token that is gone."""
    SESSION_ACTS = "session_acts"
    """A cookie or the proxy's header was to act by the API."""
    FORM = "form"
    """A form had no token against forgery, or another one."""
    SIGN_IN = "sign_in"
    """Somebody signed in with a token that is none."""
    SIGN_IN_PAUSE = "sign_in_pause"
    """Somebody tried again too soon."""
    OWN_CASE = "own_case"
    """Somebody would sign a golden case that they wrote."""
    OTHER_TAGS = "other_tags"
    """An approver would sign a golden case outside of their tags."""


IDENTITY_REFUSED = Counter(
    "ragvigil_web_identity_refused",
    "Requests to the web refused for who sent them or how they said so, by reason.",
    ["reason"],
)
WEB_CONNECTIONS = Gauge(
    "ragvigil_web_connections", "Open connections of the web's listener.", ["listener"]
)
WEB_CONNECTIONS_CLOSED = Counter(
    "ragvigil_web_connections_closed",
    "Connections that the web's listener closed or refused, by reason.",
    ["listener", "reason"],
)
