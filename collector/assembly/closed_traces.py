"""Remembers closed traces that may still get a late span.

They are packed: a header, 18 bytes per span and 24 per log record, so that 1,400 traces a second
fit for 600 seconds (`bench/assembly.py`). Entries expire in ticks of ten seconds.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field

from collector.assembly.refs import LogRef, SpanRef

_HEADER = struct.Struct("<dQQIHI")
_SPAN = struct.Struct("<II8sH")
_LOG = struct.Struct("<II8sQ")
_SPAN_ID_AT = 8  # its offset in both _SPAN and _LOG
_TICK_SECONDS = 10.0
_OVERHEAD_BYTES = 200  # key, bytes object and dictionary slot of an entry
_LARGEST_OFFSET = (1 << 32) - 1
_LARGEST_WEIGHT = (1 << 16) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedTrace:
    """What is kept of a closed trace. `size` is in encoded bytes; unpacked refs have size 0."""

    closed_at: float
    received_unix_nano: int
    first_seq: int
    size: int
    part: int
    spans: tuple[SpanRef, ...]
    logs: tuple[LogRef, ...]


def pack(trace: ClosedTrace) -> bytes | None:
    """The trace as bytes; None if its seqs are more than 32 bits apart."""
    base = trace.first_seq
    refs: Iterable[SpanRef | LogRef] = (*trace.spans, *trace.logs)
    if any(not 0 <= ref.seq - base <= _LARGEST_OFFSET for ref in refs):
        return None
    header = _HEADER.pack(
        trace.closed_at,
        trace.received_unix_nano,
        base,
        min(trace.size, _LARGEST_OFFSET),
        min(trace.part, _LARGEST_WEIGHT),
        len(trace.spans),
    )
    spans = [
        _SPAN.pack(ref.seq - base, ref.index, ref.span_id, min(ref.weight, _LARGEST_WEIGHT))
        for ref in trace.spans
    ]
    logs = [_LOG.pack(ref.seq - base, ref.index, ref.span_id, ref.digest) for ref in trace.logs]
    return b"".join([header, *spans, *logs])


def unpack(packed: bytes) -> ClosedTrace:
    """The inverse of `pack`, without the sizes of the spans."""
    closed_at, received, base, size, part, count = _HEADER.unpack_from(packed)
    middle = _HEADER.size + count * _SPAN.size
    spans = tuple(
        SpanRef(seq=base + offset, index=index, span_id=span_id, weight=weight)
        for offset, index, span_id, weight in _SPAN.iter_unpack(packed[_HEADER.size : middle])
    )
    logs = tuple(
        LogRef(seq=base + offset, index=index, span_id=span_id, digest=digest)
        for offset, index, span_id, digest in _LOG.iter_unpack(packed[middle:])
    )
    return ClosedTrace(
        closed_at=closed_at,
        received_unix_nano=received,
        first_seq=base,
        size=size,
        part=part,
        spans=spans,
        logs=logs,
    )


def weight_of(packed: bytes, span_id: bytes) -> int | None:
    """The number of attributes of a span, read from the packed bytes; None if it is not there."""
    end = _HEADER.size + _HEADER.unpack_from(packed)[5] * _SPAN.size
    at = packed.find(span_id, _HEADER.size, end)
    while at >= 0:
        offset = at - _HEADER.size - _SPAN_ID_AT
        # The same 8 bytes may occur by chance across two fields: only an aligned match counts.
        if offset >= 0 and offset % _SPAN.size == 0:
            weight: int = _SPAN.unpack_from(packed, at - _SPAN_ID_AT)[3]
            return weight
        at = packed.find(span_id, at + 1, end)
    return None


def has_log(packed: bytes, span_id: bytes, digest: int) -> bool:
    """Whether the trace has a log record of this span with this content."""
    begin = _HEADER.size + _HEADER.unpack_from(packed)[5] * _SPAN.size
    key = span_id + digest.to_bytes(8, "little")
    at = packed.find(key, begin)
    while at >= 0:
        if (at - begin - _SPAN_ID_AT) % _LOG.size == 0:
            return True
        at = packed.find(key, at + 1)
    return False


@dataclass(slots=True)
class _Tick:
    """Traces that closed within the same ten seconds; `first_seq` is the lowest of theirs."""

    first_seq: int
    trace_ids: list[bytes] = field(default_factory=list)


class ClosedTraces:
    """Packed closed traces by trace id, bounded in time and in bytes.

    A tick may list a trace that was forgotten or closed again since: `_closed_in` tells.
    """

    def __init__(self, *, late_seconds: float, max_bytes: int) -> None:
        self._late_seconds = late_seconds
        self._max_bytes = max_bytes
        self._packed: dict[bytes, bytes] = {}
        self._ticks: dict[int, _Tick] = {}
        self._expired_at = 0.0
        self.size_bytes = 0

    def __len__(self) -> int:
        return len(self._packed)

    def put(self, trace_id: bytes, trace: ClosedTrace) -> int:
        """Remembers a trace; returns how many were forgotten for memory, perhaps this one."""
        packed = pack(trace)
        if packed is None:
            return 1
        self.pop(trace_id)
        self._packed[trace_id] = packed
        self.size_bytes += len(packed) + _OVERHEAD_BYTES
        at = int(trace.closed_at // _TICK_SECONDS)
        tick = self._ticks.get(at)
        if tick is None:
            tick = self._ticks[at] = _Tick(trace.first_seq)
        tick.first_seq = min(tick.first_seq, trace.first_seq)
        tick.trace_ids.append(trace_id)
        return self._shrink()

    def get(self, trace_id: bytes, now: float) -> bytes | None:
        """The packed trace; None if it is unknown or closed more than `late_seconds` ago."""
        packed = self._packed.get(trace_id)
        if packed is None:
            return None
        closed_at: float = _HEADER.unpack_from(packed)[0]
        if now - closed_at <= self._late_seconds:
            return packed
        self.pop(trace_id)
        return None

    def pop(self, trace_id: bytes) -> None:
        """Forgets a trace, if it is known."""
        packed = self._packed.pop(trace_id, None)
        if packed is not None:
            self.size_bytes -= len(packed) + _OVERHEAD_BYTES

    def expire(self, now: float) -> None:
        """Forgets what closed more than `late_seconds` ago."""
        if abs(now - self._expired_at) < _TICK_SECONDS:
            return
        self._expired_at = now
        last = (now - self._late_seconds) // _TICK_SECONDS
        for at in [at for at in self._ticks if at < last]:
            for trace_id in self._ticks.pop(at).trace_ids:
                if self._closed_in(trace_id, at):
                    self.pop(trace_id)

    def oldest_seq(self) -> int | None:
        """The first frame that any trace needs, or an earlier one; None if there is none.

        Earlier, because a tick keeps its lowest seq when traces leave it: a frame may stay too
        long, but never goes too soon.
        """
        return min((tick.first_seq for tick in self._ticks.values()), default=None)

    def _closed_in(self, trace_id: bytes, at: int) -> bool:
        packed = self._packed.get(trace_id)
        return packed is not None and _HEADER.unpack_from(packed)[0] // _TICK_SECONDS == at

    def _shrink(self) -> int:
        forgotten = 0
        while self.size_bytes > self._max_bytes and self._ticks:
            at = next(iter(self._ticks))
            trace_ids = self._ticks[at].trace_ids
            if not trace_ids:
                del self._ticks[at]
                continue
            trace_id = trace_ids.pop()
            if self._closed_in(trace_id, at):
                self.pop(trace_id)
                forgotten += 1
        return forgotten
