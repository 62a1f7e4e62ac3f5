"""The outcome of a closed trace: the value that the store writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from ragvigil.model.feedback import FeedbackEvent
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from ragvigil.model.span import Trace
from ragvigil.model.values import dataclass


class TraceOutcome(StrEnum):
    """The ledger's classes: every closed trace is exactly one of these."""

    SCORED = "scored"
    NOT_RAG = "not_rag"
    SHED = "shed"
    LATE = "late"
    UNPARSEABLE = "unparseable"
    OFFLINE = "offline"
    """An evaluation asked, no user: the spans are stored, and no answer is made of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRecord:
    """A record, its scores and its measurements (`record_shape`, unknown ones are None)."""

    record: RagRecord
    scores: tuple[Score, ...] = ()
    shape: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A closed trace with its records, scores and feedback.

    `time_unix_nano` decides which windows count it. It is pinned at the first closing, so that all
    generations of a trace share one key. `gone` are ids of records that an earlier generation had
    and this one lacks; they get tombstones. `feedback` is all that the trace carries, on any
    answer. `kept` are the ids of the spans that the settings keep, None if they keep all;
    `kept_before` counts spans of the trace that are stored already. `tells` is set where another
    daemon may have the rest of the trace: who stored its records, empty if nobody knows.
    """

    trace: Trace
    outcome: TraceOutcome
    time_unix_nano: int
    records: tuple[ScoredRecord, ...] = ()
    feedback: tuple[FeedbackEvent, ...] = ()
    gone: tuple[str, ...] = ()
    kept: frozenset[str] | None = None
    kept_before: int = 0
    tells: str | None = None
