"""OTLP's own vocabulary: spans, log records and traces, decoded and frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum, IntEnum, StrEnum
from typing import TypeAlias

from ragvigil.model.values import dataclass

AttributeValue: TypeAlias = (
    "str | bool | int | float | bytes | list[AttributeValue] | dict[str, AttributeValue] | None"
)
Attributes: TypeAlias = Mapping[str, AttributeValue]
AHEAD_NANOS, BEHIND_NANOS = 600 * 10**9, 24 * 3600 * 10**9
"""The end of a trace is believable up to so long after its receipt, and so long before."""
MAX_VALUE_CHARACTERS = 1 << 20
"""Longer texts are cut where spans are decoded, and end with a mark; the spool keeps them whole."""


class SpanKind(IntEnum):
    """OTLP `Span.SpanKind`; unknown numbers are read as UNSPECIFIED."""

    UNSPECIFIED = 0
    INTERNAL = 1
    SERVER = 2
    CLIENT = 3
    PRODUCER = 4
    CONSUMER = 5


class StatusCode(IntEnum):
    """OTLP `Status.StatusCode`."""

    UNSET = 0
    OK = 1
    ERROR = 2


class Closed(StrEnum):
    """Why a trace was closed; each is a label of `ragvigil_traces_closed_total`."""

    ROOT_ENDED = "root_ended"
    IDLE = "idle"
    AGE = "age"
    SPAN_CAP = "span_cap"
    BYTE_CAP = "byte_cap"
    MEMORY = "memory"
    LATE_SPAN = "late_span"
    BACKFILL_END = "backfill_end"
    SHUTDOWN = "shutdown"
    JOINED = "joined"
    """Its parts came to several daemons, and were put together from the store."""


class Signal(Enum):
    """Which OTLP signal a request carries."""

    TRACES = "traces"
    LOGS = "logs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """What produced the telemetry; `attributes` holds `service.name` and the like."""

    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The instrumentation library that made a span."""

    name: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A span event; times are nanoseconds since the epoch."""

    name: str
    time_unix_nano: int
    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A reference to another span; ids are lower-case hex."""

    trace_id: str
    span_id: str
    trace_state: str = ""
    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRecord:
    """A log record that belongs to a span; prompts and answers often travel this way.

    `event_name` is OTLP's `event_name`, else the attribute `event.name`, else empty.
    """

    trace_id: str
    span_id: str
    time_unix_nano: int
    event_name: str = ""
    body: AttributeValue = None
    attributes: Attributes = field(default_factory=dict)
    severity: str = ""
    scope: Scope = Scope()


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One span, with the log records that were joined to it by trace and span id.

    Ids are lower-case hex (32 and 16 characters); `parent_span_id` is empty on a root.
    """

    trace_id: str
    span_id: str
    parent_span_id: str = ""
    name: str = ""
    kind: SpanKind = SpanKind.UNSPECIFIED
    start_unix_nano: int = 0
    end_unix_nano: int = 0
    status: StatusCode = StatusCode.UNSET
    status_message: str = ""
    attributes: Attributes = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    links: tuple[Link, ...] = ()
    logs: tuple[LogRecord, ...] = ()
    resource: Resource = Resource()
    scope: Scope = Scope()
    trace_state: str = ""
    dropped_attributes_count: int = 0
    dropped_events_count: int = 0
    dropped_links_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainSpans:
    """The spans of a trace of which none can say anything of an answer: HTTP, databases, queues.

    They never become a `Span`. `count` is their number, `ended_unix_nano` the end of the last one,
    `service` the name of the first one's service. `rows` are theirs as the store takes them, of
    `characters` characters; none where the settings do not keep them.
    """

    count: int
    ended_unix_nano: int = 0
    service: str = ""
    rows: tuple[tuple[object, ...], ...] = ()
    characters: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The spans of one trace at the moment it closed, in order of start time.

    `received_unix_nano` is when the first of its spans arrived; it never changes between
    generations, so that rows of a re-scored trace land on the same key. `backfill` names the
    declared backfill run, or is empty for live traffic. A trace has `spans` or is `plain`.
    `least_generation` is set where spans were left out of the store, and cannot be counted.
    """

    trace_id: str
    spans: tuple[Span, ...]
    closed: Closed
    received_unix_nano: int
    backfill: str = ""
    plain: PlainSpans | None = None
    least_generation: int = 0

    @property
    def generation(self) -> int:
        """Number of distinct spans: replays of the same spans give the same generation."""
        return max(self.least_generation, self.plain.count if self.plain else len(self.spans))
