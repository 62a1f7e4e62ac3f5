"""Why there is no vector: a value that callers pass on, never an exception."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """What keeps the model from answering; the metrics count by it."""

    OFF = "off"
    """The settings switch it off, or name no model for this."""
    NO_MODEL = "no_model"
    """The model or the libraries that run it are not there, or do not load."""
    FAILED = "failed"
    """The model raised on these texts, or gave numbers that are none."""
    CRASHED = "crashed"
    """The child ended in the middle of a call, or could not be started."""
    TIMED_OUT = "timed_out"
    """The child did not answer in time and was ended."""
    TOO_LARGE = "too_large"
    """The child took more memory than it may and was ended."""
    RESTING = "resting"
    """A child ended lately; the next starts after a pause."""
    BUSY = "busy"
    """Other callers kept the child busy for as long as a caller waits."""
    CLOSED = "closed"
    """The daemon is stopping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unavailable:
    """No answer, and why: `detail` is a sentence for people."""

    reason: Reason
    detail: str

    def __str__(self) -> str:
        return self.detail
