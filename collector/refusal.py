"""Why a request or an item is refused: the names under which it is counted."""

from __future__ import annotations

from enum import StrEnum


class Refusal(StrEnum):
    """Why a whole request was refused; each is a label of `ragvigil_requests_refused_total`.

    Each needs status codes in `collector/receiver/answer.py`, except DISCONNECTED, which nobody is
    left to be told.
    """

    MALFORMED = "malformed"
    TOO_LARGE = "too_large"
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    HOST = "host"
    RATE = "rate"
    OVERLOADED = "overloaded"
    SPOOL_FULL = "spool_full"
    SPOOL_FAILED = "spool_failed"
    DISK_RESERVE = "disk_reserve"
    STOPPING = "stopping"
    MEDIA_TYPE = "media_type"
    METHOD = "method"
    PATH = "path"
    SLOW = "slow"
    DISCONNECTED = "disconnected"


class Rejection(StrEnum):
    """Why one span or log record was rejected; a label of `ragvigil_items_rejected_total`.

    Each needs words for the client in `collector/decode/otlp.py`.
    """

    INVALID_UTF8 = "invalid_utf8"
    INVALID_ID = "invalid_id"
    TOO_DEEP = "too_deep"
    UNREADABLE = "unreadable"


class Refused(Exception):
    """A request is refused for `reason`; `str(error)` is a sentence for the client.

    `retry_seconds` is the pause that the client is asked to make; 0 asks for none.
    """

    def __init__(self, reason: Refusal, message: str, *, retry_seconds: int = 0) -> None:
        super().__init__(message)
        self.reason = reason
        self.retry_seconds = retry_seconds


class Malformed(Refused):
    """The body is not what its content type says; sending it again does not help."""

    def __init__(self, message: str) -> None:
        super().__init__(Refusal.MALFORMED, message)


class TooLarge(Refused):
    """The body is beyond a limit; sending it again does not help."""

    def __init__(self, message: str) -> None:
        super().__init__(Refusal.TOO_LARGE, message)
