"""Turns frames into arrivals, and closings back into traces with their contents.

A frame is parsed once when it is read. Its parsed request stays in a cache, bounded in bytes, until
its traces are fetched, usually seconds later. A frame that is not in the cache is read again.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import blake2b
from typing import Any, Protocol

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord as ProtoLog
from opentelemetry.proto.resource.v1.resource_pb2 import Resource as ProtoResource
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtoSpan

from collector.assembly.plain import is_marked_offline, kept_ids, may_matter, plain_spans
from collector.assembly.refs import Arrival, Closing, LogArrival, LogRef, SpanRef
from collector.decode.spans import iterate, to_log, to_resource, to_scope, to_span
from collector.record.feedback import OWN_RESULTS
from collector.spool.directory import FrameGone
from collector.spool.frames import Frame
from ragvigil.model.evaluation import EVENT as EVALUATION
from ragvigil.model.evaluation import OWN, SCOPE
from ragvigil.model.span import LogRecord, Resource, Scope, Signal, Span, Trace
from ragvigil.store.settings import KeptSpans

CACHE_BYTES = 16 << 20
"""Of payload; parsed requests take about 2.5 times that. Traces close in spool order, so that even
a small cache parses a frame no more than twice."""
_NO_SPAN = bytes(8)
_SMALL_REQUEST = 256 << 10
"""Below this, the request's bytes are divided evenly among its spans: measuring each span costs as
much as parsing it."""


class Unfetched(StrEnum):
    """Why an acknowledged span or log record is in no trace."""

    FRAME_GONE = "frame_gone"
    UNPARSEABLE = "unparseable"
    INVALID_ID = "invalid_id"
    LOG_WITHOUT_SPAN = "log_without_span"


class Frames(Protocol):
    """Where frames are read again: the spool."""

    def get(self, seq: int) -> Frame:
        """The frame of a number. Raises FrameGone."""
        ...


Item = tuple[ProtoResource, InstrumentationScope, ProtoSpan | ProtoLog]


@dataclass(slots=True)
class _ParsedFrame:
    """A parsed request; resources and scopes are converted once, at their first use.

    `unfetched` counts the items that are in no trace yet.
    """

    items: list[Item]
    size: int
    backfill: str
    resources: dict[int, Resource]
    scopes: dict[int, Scope]
    unfetched: int

    def span(self, index: int) -> Span | None:
        """The span at a flat index; None if the request has no such index."""
        if not index < len(self.items):
            return None
        resource, scope, item = self.items[index]
        return to_span(self._resource(resource), self._scope(scope), item)

    def log(self, index: int) -> LogRecord | None:
        """The log record at a flat index; None if the request has no such index."""
        if not index < len(self.items):
            return None
        _, scope, item = self.items[index]
        return to_log(self._scope(scope), item)

    def _resource(self, resource: ProtoResource) -> Resource:
        # `items` keeps the message alive, so its id() is not used again for another one.
        if id(resource) not in self.resources:
            self.resources[id(resource)] = to_resource(resource)
        return self.resources[id(resource)]

    def _scope(self, scope: InstrumentationScope) -> Scope:
        if id(scope) not in self.scopes:
            self.scopes[id(scope)] = to_scope(scope)
        return self.scopes[id(scope)]


class TraceFetcher:
    """Turns frames into arrivals and closings into traces. Not thread-safe.

    `cached_bytes` is the payload of the frames that it holds.
    """

    def __init__(
        self,
        reader: Frames,
        *,
        keeps: KeptSpans = KeptSpans.ALL,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        self._reader, self._keeps = reader, keeps
        self._cache_bytes, self.cached_bytes = cache_bytes, 0
        self._cached: OrderedDict[int, _ParsedFrame] = OrderedDict()
        self.counts: Counter[Unfetched] = Counter()

    def arrivals(self, frame: Frame) -> list[Arrival | LogArrival]:
        """The spans or log records of the frame, in order.

        Fewer than `frame.items` if some have no usable id or the payload cannot be parsed. These
        are counted and belong to no trace.
        """
        parsed = self._keep(frame)
        if parsed is None:
            self.counts[Unfetched.UNPARSEABLE] += max(1, frame.items)
            return []
        scan = _log_arrivals if frame.signal is Signal.LOGS else _span_arrivals
        found: list[Arrival | LogArrival] = list(scan(frame, parsed))
        without = (
            Unfetched.LOG_WITHOUT_SPAN if frame.signal is Signal.LOGS else Unfetched.INVALID_ID
        )
        self.counts[without] += len(parsed.items) - len(found)
        parsed.unfetched = len(found)
        if not found:
            self._forget(frame.seq)
        return found

    def fetch(self, closing: Closing) -> Trace:
        """The trace: its spans by start time, each with its log records.

        Spans and log records whose frame is gone are left out and counted. Where no span can say
        anything of an answer, none becomes a `Span`.
        """
        trace = self._plain(closing) or self._whole(closing)
        self._release(closing)
        return trace

    def kept(self, trace: Trace) -> frozenset[str] | None:
        """The ids of the spans of a trace that the settings keep, None if they keep all."""
        return kept_ids(trace.spans, self._keeps)

    def _plain(self, closing: Closing) -> Trace | None:
        """The trace without spans; None if one of them may say something of an answer."""
        if closing.logs or not closing.refs:
            return None
        items: list[Item] = []
        for ref in closing.refs:
            parsed = self._parsed(ref.seq)
            if parsed is None or not ref.index < len(parsed.items):
                return None
            item = parsed.items[ref.index]
            if may_matter(item[2]) or is_marked_offline(item[0], item[2]):
                return None
            items.append(item)
            backfill = parsed.backfill
        items.sort(key=lambda item: item[2].start_time_unix_nano)
        return Trace(
            trace_id=closing.trace_id,
            spans=(),
            closed=closing.reason,
            received_unix_nano=closing.received_unix_nano,
            backfill=backfill,
            plain=plain_spans(items, self._keeps),
        )

    def _whole(self, closing: Closing) -> Trace:
        spans = []
        backfill = ""
        logs = self._logs(closing)
        for ref in closing.refs:
            parsed = self._parsed(ref.seq)
            span = parsed.span(ref.index) if parsed else None
            if span is None or parsed is None:
                self.counts[Unfetched.FRAME_GONE] += 1
                continue
            backfill = parsed.backfill
            joined = logs.pop(ref.span_id, None) if logs else None
            spans.append(replace(span, logs=tuple(joined)) if joined else span)
        spans.sort(key=_start)
        if logs:
            self._keep_loose([log for group in logs.values() for log in group], spans)
        return Trace(
            trace_id=closing.trace_id,
            spans=tuple(spans),
            closed=closing.reason,
            received_unix_nano=closing.received_unix_nano,
            backfill=backfill,
        )

    def _keep_loose(self, logs: list[LogRecord], spans: list[Span]) -> None:
        """Puts evaluations without a span on the first span; counts the other log records."""
        loose = [log for log in logs if log.event_name == EVALUATION] if spans else []
        if loose:
            spans[0] = replace(spans[0], logs=(*spans[0].logs, *sorted(loose, key=_time)))
        self.counts[Unfetched.LOG_WITHOUT_SPAN] += len(logs) - len(loose)

    def _logs(self, closing: Closing) -> dict[bytes, list[LogRecord]]:
        """Log records by span id, by time."""
        found: dict[bytes, list[LogRecord]] = defaultdict(list)
        for ref in closing.logs:
            parsed = self._parsed(ref.seq)
            record = parsed.log(ref.index) if parsed else None
            if record is None:
                self.counts[Unfetched.FRAME_GONE] += 1
            else:
                found[ref.span_id].append(record)
        for records in found.values():
            records.sort(key=_time)
        return found

    def _parsed(self, seq: int) -> _ParsedFrame | None:
        parsed = self._cached.get(seq)
        if parsed is not None:
            self._cached.move_to_end(seq)
            return parsed
        try:
            return self._keep(self._reader.get(seq))
        except FrameGone:
            return None

    def _keep(self, frame: Frame) -> _ParsedFrame | None:
        """Parses a frame into the cache; None if it cannot be parsed."""
        is_logs = frame.signal is Signal.LOGS
        kind = ExportLogsServiceRequest if is_logs else ExportTraceServiceRequest
        try:
            items = list(iterate(kind.FromString(frame.payload)))
        except DecodeError:
            return None
        parsed = _ParsedFrame(items, len(frame.payload), frame.backfill, {}, {}, len(items))
        known = self._cached.pop(frame.seq, None)
        self._cached[frame.seq] = parsed
        self.cached_bytes += parsed.size - (known.size if known else 0)
        # The newest frame stays, even if it alone exceeds the limit: its spans are needed next.
        while self.cached_bytes > self._cache_bytes and len(self._cached) > 1:
            _, oldest = self._cached.popitem(last=False)
            self.cached_bytes -= oldest.size
        return parsed

    def _release(self, closing: Closing) -> None:
        """Forgets frames of which every item is in a trace now: at a small service's rate the cache
        would hold a minute of them, 40 MB. A late span has its trace's frames read again."""
        for seq in [*(ref.seq for ref in closing.refs), *(log.seq for log in closing.logs)]:
            parsed = self._cached.get(seq)
            if parsed is not None:
                parsed.unfetched -= 1
                if parsed.unfetched <= 0:
                    self._forget(seq)

    def _forget(self, seq: int) -> None:
        self.cached_bytes -= self._cached.pop(seq).size


def _start(span: Span) -> int:
    return span.start_unix_nano


def _time(record: LogRecord) -> int:
    return record.time_unix_nano


def _span_arrivals(frame: Frame, parsed: _ParsedFrame) -> Iterator[Arrival]:
    seq, received = frame.seq, frame.received_unix_nano
    share = parsed.size // max(1, len(parsed.items)) if parsed.size < _SMALL_REQUEST else None
    for index, (_, _, span) in enumerate(parsed.items):
        trace_id, span_id = span.trace_id, span.span_id
        if len(trace_id) != 16 or len(span_id) != 8:
            continue
        yield Arrival(
            trace_id=trace_id,
            ref=SpanRef(
                seq=seq,
                index=index,
                span_id=span_id,
                weight=len(span.attributes),
                size=span.ByteSize() if share is None else share,
            ),
            is_root=span.parent_span_id in (b"", _NO_SPAN),
            received_unix_nano=received,
            ended_unix_nano=span.end_time_unix_nano,
        )


def _log_arrivals(frame: Frame, parsed: _ParsedFrame) -> Iterator[LogArrival]:
    for index, (_, scope, log) in enumerate(parsed.items):
        trace_id, span_id = log.trace_id, log.span_id
        if len(trace_id) != 16:
            continue
        if _is_own(scope, log):  # else our export would reopen its trace, score and export it again
            OWN_RESULTS.inc()
            continue
        if len(span_id) != 8 or span_id == _NO_SPAN:
            if not _is_evaluation(log):
                continue
            span_id = _NO_SPAN
        # Deterministic: the digest must be the same when the frame is read again.
        encoded = log.SerializeToString(deterministic=True)
        digest = int.from_bytes(blake2b(encoded, digest_size=8).digest(), "little")
        yield LogArrival(
            trace_id=trace_id,
            ref=LogRef(
                seq=frame.seq, index=index, span_id=span_id, digest=digest, size=len(encoded)
            ),
            received_unix_nano=frame.received_unix_nano,
            ended_unix_nano=log.time_unix_nano or log.observed_time_unix_nano,
        )


def _is_own(scope: Any, log: Any) -> bool:
    """Whether a log record is a result that ragvigil itself exported."""
    if scope.name != SCOPE and not any(attribute.key == OWN for attribute in log.attributes):
        return False
    return _is_evaluation(log)


def _is_evaluation(log: Any) -> bool:
    """Whether a log record is an evaluation of an answer: then it needs no span."""
    return log.event_name == EVALUATION or any(
        attribute.key == "event.name" and attribute.value.string_value == EVALUATION
        for attribute in log.attributes
    )
