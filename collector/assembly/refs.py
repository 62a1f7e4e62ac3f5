"""The values that go into assembly and come out: references into the spool, never contents."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from ragvigil.model.span import Closed


class SpanRef(NamedTuple):
    """Where a span is: the frame `seq`, and `index`, its place among all spans of the request.

    `span_id` has 8 bytes, `weight` is the number of attributes. `size` is the encoded bytes: in a
    small request the mean of its spans, and 0 in a ref that comes back from a closed trace. It is a
    NamedTuple because that is cheap: every span has one, and it is sent between processes.
    """

    seq: int
    index: int  # type: ignore[assignment]  # hides tuple.index, which is not used
    span_id: bytes
    weight: int = 0
    size: int = 0


class LogRef(NamedTuple):
    """Where a log record is. Records of a span with the same `digest` (64 bits) are duplicates.

    `span_id` is all zeros for an evaluation that names no span.
    """

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
    attributes, on a tie the first. The number of refs is the generation. `received_unix_nano` is
    when the first span arrived, in all generations; `first_seq` is the first frame needed.
    The ledger counts every span once, by the seq of its frame: `stored` has the seqs of spans that
    no earlier closing had, `duplicates` those of spans that came again. `part` is above 0 if a cap
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
    """A closed trace, forgotten early to save memory: a late span would begin it anew."""
