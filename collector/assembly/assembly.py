"""Gathers the spans of each trace and closes the trace when it is complete enough to be scored.

Pure: it holds references into the spool, and time is an argument. Live traffic passes a
monotonic clock. A backfill has its own assembly and passes event time, which may jump far ahead
(everything due closes) or back (the times of a trace never go back); its caller ends it with
`close_all`. Call `close_due(now)` before adding what arrived at `now`.

A trace with a root (a span without a parent) closes `quiet_seconds` after its last span, a trace
without one after `idle_seconds`, and any trace at `max_age_seconds` or at a cap. The local root of
an inner service has a parent, so it does not count as a root, however late its parent arrives. A
late span reopens the trace with all its spans and closes it again as the next generation.
"""

from __future__ import annotations

from collections import Counter
from heapq import heappop, heappush
from operator import attrgetter

from collector.assembly.closed_traces import ClosedTrace, ClosedTraces, has_log, unpack, weight_of
from collector.assembly.refs import Arrival, AssemblyCount, Closing, LogArrival, LogRef, SpanRef
from collector.assembly.settings import AssemblyLimits
from ragvigil.model.span import Closed

_SPOOL_ORDER = attrgetter("seq", "index")
_OPEN_BYTES = 600  # estimates of the memory of an open trace and of a span in it
_REF_BYTES = 300


class _Open:
    """An open trace. `known` are the span ids of earlier generations, None in the first."""

    __slots__ = (
        "duplicates",
        "first_seq",
        "has_root",
        "known",
        "last_seen",
        "logs",
        "opened_at",
        "part",
        "received_unix_nano",
        "scheduled",
        "size",
        "spans",
    )

    def __init__(self, *, now: float, seq: int, received_unix_nano: int) -> None:
        self.opened_at = now
        self.last_seen = now
        self.scheduled = 0.0
        self.first_seq = seq
        self.received_unix_nano = received_unix_nano
        self.size = 0
        self.part = 0
        self.has_root = False
        self.known: frozenset[bytes] | None = None
        self.spans: dict[bytes, SpanRef] = {}
        self.logs: dict[tuple[bytes, int], LogRef] = {}
        self.duplicates: list[int] = []


class Assembly:
    """Open traces and the memory of closed ones. Not thread-safe; see the module for `now`."""

    def __init__(self, limits: AssemblyLimits) -> None:
        self._limits = limits
        self._open: dict[bytes, _Open] = {}
        self.closed = ClosedTraces(
            late_seconds=limits.late_seconds, max_bytes=limits.max_remembered_bytes
        )
        # A heap of (due time, first seq, trace id). Entries are not updated: a trace gets a new
        # entry, and `scheduled` says which one counts.
        self._due: list[tuple[float, int, bytes]] = []
        self._ready: list[Closing] = []
        self._late_duplicates: list[int] = []
        self.counts: Counter[AssemblyCount] = Counter()

    def add(self, arrival: Arrival | LogArrival, now: float) -> None:
        """Adds a span or log record. If a cap closes the trace, the next `close_due` returns it."""
        trace_id = arrival.trace_id
        trace = self._open.get(trace_id)
        if trace is None:
            trace = self._begin(arrival, now)
            if trace is None:
                return
        if now > trace.last_seen:
            trace.last_seen = now
        if isinstance(arrival, LogArrival):
            self._add_log(trace, arrival)
        else:
            self._add_span(trace, arrival)
        if (
            len(trace.spans) + len(trace.logs) >= self._limits.max_spans
            or trace.size >= self._limits.max_bytes
        ):
            self._cap(trace_id, trace, now)

    def close_due(self, now: float) -> list[Closing]:
        """Returns what closed since the last call: by time up to `now`, by a cap, or for memory."""
        due = self._due
        while due and due[0][0] <= now:
            scheduled, _, trace_id = heappop(due)
            trace = self._open.get(trace_id)
            if trace is None or trace.scheduled != scheduled:
                continue  # closed or rescheduled since; this heap entry is stale
            if self._due_at(trace) > now:  # spans came since: `add` does not touch the heap
                self._schedule(trace_id, trace)
            else:
                self._close(trace_id, trace, self._reason(trace, now), now)
        self.closed.expire(now)
        ready, self._ready = self._ready, []
        return ready

    def close_oldest(self, count: int, now: float) -> list[Closing]:
        """Closes the `count` traces that were opened first, to free memory."""
        for trace_id in list(self._open)[:count]:  # a dict keeps the order of insertion
            self._close(trace_id, self._open[trace_id], Closed.MEMORY, now)
        ready, self._ready = self._ready, []
        return ready

    def close_all(self, reason: Closed, now: float = 0.0) -> list[Closing]:
        """Closes every open trace."""
        for trace_id, trace in list(self._open.items()):
            self._close(trace_id, trace, reason, now or trace.last_seen)
        ready, self._ready = self._ready, []
        return ready

    def drain_duplicates(self) -> list[int]:
        """Returns the frame seqs, one per span, of late duplicates that reopened no trace."""
        drained, self._late_duplicates = self._late_duplicates, []
        return drained

    def oldest_open_seq(self) -> int | None:
        """The first frame that an open trace needs; None if no trace is open."""
        waiting = (trace.first_seq for trace in self._open.values())
        return min((*waiting, *(closing.first_seq for closing in self._ready)), default=None)

    def oldest_needed_seq(self, now: float) -> int | None:
        """The first frame that an open trace, or a late span of a closed one, may need."""
        self.closed.expire(now)
        seqs = (self.oldest_open_seq(), self.closed.oldest_seq())
        return min((seq for seq in seqs if seq is not None), default=None)

    @property
    def open_count(self) -> int:
        """The number of open traces."""
        return len(self._open)

    def memory_bytes(self) -> int:
        """An estimate of the memory in use, in bytes."""
        refs = sum(len(trace.spans) + len(trace.logs) for trace in self._open.values())
        return len(self._open) * _OPEN_BYTES + refs * _REF_BYTES + self.closed.size_bytes

    def _begin(self, arrival: Arrival | LogArrival, now: float) -> _Open | None:
        """Opens or reopens the trace of an arrival; None if it is a duplicate in a closed trace."""
        trace_id = arrival.trace_id
        packed = self.closed.get(trace_id, now)
        if packed is not None and self._is_known(arrival, packed):
            return None
        trace = _Open(now=now, seq=arrival.ref.seq, received_unix_nano=arrival.received_unix_nano)
        if packed is not None:
            is_log = isinstance(arrival, LogArrival)
            self.counts[AssemblyCount.LATE_LOG if is_log else AssemblyCount.LATE_SPAN] += 1
            self._restore(trace, unpack(packed))
            self.closed.pop(trace_id)
        self._open[trace_id] = trace
        self._schedule(trace_id, trace)
        if len(self._open) > self._limits.max_open_traces:
            oldest = next(iter(self._open))
            self._close(oldest, self._open[oldest], Closed.MEMORY, now)
        return trace

    def _is_known(self, arrival: Arrival | LogArrival, packed: bytes) -> bool:
        """Whether a closed trace has this with no fewer attributes; if so, counts the duplicate."""
        ref = arrival.ref
        if isinstance(ref, LogRef):
            known = has_log(packed, ref.span_id, ref.digest)
            self.counts[AssemblyCount.DUPLICATE_LOG] += known
            return known
        weight = weight_of(packed, ref.span_id)
        if weight is None or ref.weight > weight:
            return False
        self.counts[AssemblyCount.DUPLICATE_SPAN] += 1
        self._late_duplicates.append(ref.seq)
        return True

    def _restore(self, trace: _Open, closed: ClosedTrace) -> None:
        """Puts the spans of a closed trace back, unless a cap had closed it."""
        trace.received_unix_nano = closed.received_unix_nano
        trace.part = closed.part
        trace.known = frozenset(ref.span_id for ref in closed.spans)
        count = len(closed.spans) + len(closed.logs)
        if count >= self._limits.max_spans or closed.size >= self._limits.max_bytes:
            # A cap closed it: what comes now is a part of its own, else it would close at once.
            trace.part += 1
            trace.known = frozenset()
            return
        trace.first_seq = min(trace.first_seq, closed.first_seq)
        trace.size = closed.size
        trace.spans = {ref.span_id: ref for ref in closed.spans}
        trace.logs = {(ref.span_id, ref.digest): ref for ref in closed.logs}

    def _add_span(self, trace: _Open, arrival: Arrival) -> None:
        ref = arrival.ref
        known = trace.spans.get(ref.span_id)
        if known is not None:
            self._add_duplicate(trace, known, ref)
        else:
            trace.spans[ref.span_id] = ref
            trace.size += ref.size
        if ref.seq < trace.first_seq:
            trace.first_seq = ref.seq
        if trace.known is None and arrival.received_unix_nano < trace.received_unix_nano:
            trace.received_unix_nano = arrival.received_unix_nano
        if arrival.is_root and not trace.has_root:
            trace.has_root = True
            self._schedule(arrival.trace_id, trace)

    def _add_duplicate(self, trace: _Open, known: SpanRef, ref: SpanRef) -> None:
        """Keeps the copy of a span with more attributes; the other counts as a duplicate."""
        self.counts[AssemblyCount.DUPLICATE_SPAN] += 1
        # Ties go by position in the spool, so that a replay in another order chooses the same.
        is_better = (-ref.weight, ref.seq, ref.index) < (-known.weight, known.seq, known.index)
        if is_better:
            trace.spans[ref.span_id] = ref
            trace.size += ref.size - known.size
        was_stored = trace.known is not None and ref.span_id in trace.known
        trace.duplicates.append(known.seq if is_better and not was_stored else ref.seq)

    def _add_log(self, trace: _Open, arrival: LogArrival) -> None:
        ref = arrival.ref
        key = (ref.span_id, ref.digest)
        if key in trace.logs:
            self.counts[AssemblyCount.DUPLICATE_LOG] += 1
            return
        trace.logs[key] = ref
        trace.size += ref.size
        trace.first_seq = min(trace.first_seq, ref.seq)

    def _due_at(self, trace: _Open) -> float:
        limits = self._limits
        gathers = trace.known is None and not trace.has_root
        wait = limits.idle_seconds if gathers else limits.quiet_seconds
        return min(trace.last_seen + wait, trace.opened_at + limits.max_age_seconds)

    def _schedule(self, trace_id: bytes, trace: _Open) -> None:
        trace.scheduled = self._due_at(trace)
        # Traces due together close in spool order: neighbours share a parsed frame.
        heappush(self._due, (trace.scheduled, trace.first_seq, trace_id))

    def _reason(self, trace: _Open, now: float) -> Closed:
        if trace.known is not None:
            return Closed.LATE_SPAN
        limits = self._limits
        wait = limits.quiet_seconds if trace.has_root else limits.idle_seconds
        if now < trace.last_seen + wait:
            return Closed.AGE
        return Closed.ROOT_ENDED if trace.has_root else Closed.IDLE

    def _cap(self, trace_id: bytes, trace: _Open, now: float) -> None:
        is_size = trace.size >= self._limits.max_bytes
        self._close(trace_id, trace, Closed.BYTE_CAP if is_size else Closed.SPAN_CAP, now)

    def _close(self, trace_id: bytes, trace: _Open, reason: Closed, now: float) -> None:
        del self._open[trace_id]
        if not trace.spans:
            self.counts[AssemblyCount.ORPHANED_LOG] += len(trace.logs)
            return
        refs = tuple(sorted(trace.spans.values(), key=_SPOOL_ORDER))
        logs = tuple(sorted(trace.logs.values(), key=_SPOOL_ORDER)) if trace.logs else ()
        known = trace.known or ()
        self._ready.append(
            Closing(
                trace_id=trace_id.hex(),
                refs=refs,
                logs=logs,
                reason=reason,
                received_unix_nano=trace.received_unix_nano,
                first_seq=trace.first_seq,
                stored=tuple([ref.seq for ref in refs if ref.span_id not in known]),
                duplicates=tuple(trace.duplicates),
                part=trace.part,
            )
        )
        closed = ClosedTrace(
            closed_at=now,
            received_unix_nano=trace.received_unix_nano,
            first_seq=trace.first_seq,
            size=trace.size,
            part=trace.part,
            spans=refs,
            logs=logs,
        )
        self.counts[AssemblyCount.FORGOTTEN_TRACE] += self.closed.put(trace_id, closed)
