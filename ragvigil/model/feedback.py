"""Feedback on an answer, from a user or a tool, with the ids that identify the answer."""

from __future__ import annotations

from ragvigil.model.values import dataclass

LANGFUSE_SCORES = "ragvigil.import.langfuse_scores"
"""The scope of spans that an import makes of Langfuse scores; it keeps their original source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackEvent:
    """One piece of feedback; at least one of the four ids is given. See `record.Feedback`.

    A later event with the same `feedback_id` replaces the first.
    """

    feedback_id: str
    kind: str
    time_unix_nano: int
    value: float | None = None
    comment: str = ""
    source: str = "api"
    trace_id: str = ""
    span_id: str = ""
    session_id: str = ""
    response_id: str = ""
