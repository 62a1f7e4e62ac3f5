"""Why there is no vector: a value that callers pass on, not an exception."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why a model did not answer; a label of metrics."""

    OFF = "off"
    """Local models are switched off, or none is set for this task."""
    NO_MODEL = "no_model"
    """The model or its libraries are missing, or do not load."""
    FAILED = "failed"
    """The model raised an error for these texts, or its numbers are not finite."""
    CRASHED = "crashed"
    """The child ended in the middle of a call, or did not start."""
    TIMED_OUT = "timed_out"
    """The child did not answer in time and was ended."""
    TOO_LARGE = "too_large"
    """The child used more memory than it may and was ended."""
    RESTING = "resting"
    """A child has just ended; the next starts after a pause."""
    BUSY = "busy"
    """Other callers kept the child busy for the whole timeout."""
    CLOSED = "closed"
    """The daemon is stopping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unavailable:
    """No answer, and why; `detail` is a sentence for people."""

    reason: Reason
    detail: str

    def __str__(self) -> str:
        return self.detail
