"""What assembly is told and what it gives back: references into the spool, never contents."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from ragvigil.model.span import Closed


class SpanRef(NamedTuple):
    """Where one span lies: the frame `seq` and the span's flat index in its request.

    `span_id` has 8 bytes, `weight` is the number of attributes, `size` the encoded bytes (0
    where forgotten). A NamedTuple like the others here: there is one a span, and they travel.
    """

    seq: int
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody asks of it
    span_id: bytes
    weight: int = 0
    size: int = 0


class LogRef(NamedTuple):
    """Where one log record lies. `digest` (64 bit) tells equal records from different ones."""

    seq: int
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody asks of it
    span_id: bytes
    digest: int
    size: int = 0


class Arrival(NamedTuple):
    """One span came in. `is_root`: it has no parent. `trace_id` has 16 bytes."""

    trace_id: bytes
    ref: SpanRef
    is_root: bool = False
    received_unix_nano: int = 0
    ended_unix_nano: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LogArrival:
    """One log record of a span came in; `ended_unix_nano` is its own time."""

    trace_id: bytes
    ref: LogRef
    received_unix_nano: int = 0
    ended_unix_nano: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """A trace at the moment it closed.

    `refs` has one entry per distinct span, the one with most attributes (on a tie the first), in
    spool order; its length is the generation. `received_unix_nano` is when the first of its
    spans arrived and stays through all generations; `first_seq` the first frame it needs.
    `stored` lists, for the ledger, the frame seq of every span that is in a closing for the first
    time, `duplicates` that of every span that was there already: one entry a span. `part` is
    above 0 where a cap had closed the trace before: then `refs` has only what came since.
    """

    trace_id: str
    refs: tuple[SpanRef, ...]
    logs: tuple[LogRef, ...] = ()
    reason: Closed
    received_unix_nano: int
    first_seq: int
    stored: tuple[int, ...] = ()
    duplicates: tuple[int, ...] = ()
    part: int = 0


class AssemblyCount(StrEnum):
    """What assembly counts beside the closing reasons."""

    DUPLICATE_SPAN = "duplicate_span"
    DUPLICATE_LOG = "duplicate_log"
    LATE_SPAN = "late_span"
    LATE_LOG = "late_log"
    ORPHANED_LOG = "orphaned_log"
    """A log record whose trace never had a span."""
    FORGOTTEN_TRACE = "forgotten_trace"
    """A closed trace given up for memory before `late_seconds`: a late span starts anew."""
