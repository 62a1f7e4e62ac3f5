"""The values that go into assembly and come out: references into the spool, never contents."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from ragvigil.model.span import Closed


class SpanRef(NamedTuple):
    """Where a span is: the frame `seq` and the span's flat index in its request.

    `span_id` has 8 bytes, `weight` is the number of attributes, `size` the encoded bytes (0 if
    the ref was unpacked). A cheap NamedTuple: there is one for every span, sent between processes.
    """

    seq: int
    index: int  # type: ignore[assignment]  # hides tuple.index, which is not used
    span_id: bytes
    weight: int = 0
    size: int = 0


class LogRef(NamedTuple):
    """Where a log record is. `digest` (64 bits of its content) identifies duplicates."""

    seq: int
    index: int  # type: ignore[assignment]  # hides tuple.index, which is not used
    span_id: bytes
    digest: int
    size: int = 0


class Arrival(NamedTuple):
    """A span came in. `is_root`: it has no parent. `trace_id` has 16 bytes."""

    trace_id: bytes
    ref: SpanRef
    is_root: bool = False
    received_unix_nano: int = 0
    ended_unix_nano: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LogArrival:
    """A log record came in; `ended_unix_nano` is its own time."""

    trace_id: bytes
    ref: LogRef
    received_unix_nano: int = 0
    ended_unix_nano: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """A trace at the moment it closed.

    `refs` has one entry per distinct span, in spool order: of several copies the one with most
    attributes, on a tie the first. Its length is the generation. `received_unix_nano` is when the
    first span arrived and stays the same in all generations; `first_seq` is the first frame needed.
    For the ledger, `stored` lists the frame seq of every span that is in a closing for the first
    time, `duplicates` that of every repeated span: one entry per span. `part` is above 0 if a cap
    had closed the trace before: then `refs` has only what came since.
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
    """What assembly counts, besides the closing reasons."""

    DUPLICATE_SPAN = "duplicate_span"
    DUPLICATE_LOG = "duplicate_log"
    LATE_SPAN = "late_span"
    LATE_LOG = "late_log"
    ORPHANED_LOG = "orphaned_log"
    """A log record whose trace never had a span."""
    FORGOTTEN_TRACE = "forgotten_trace"
    """A closed trace forgotten for memory before `late_seconds`: a late span starts a new trace."""
