"""The trace of one question as it arrives over OTLP, assembled and read as in production.

A trace is kept as the requests that brought its spans, so that a run that goes on later reads the
same bytes by the same code.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from collector.assembly.assembly import Assembly
from collector.assembly.fetch import TraceFetcher
from collector.assembly.refs import Arrival, Closing
from collector.assembly.settings import AssemblyLimits
from collector.decode.shape import SHAPES
from collector.spool.frames import Frame
from ragvigil.model.span import Closed, Signal, Trace

Requests = list[dict[str, str]]
"""The requests of a trace as JSON: each with its `signal` and its bytes in base64, `otlp`."""


class ArrivingTrace:
    """Gathers the requests of a trace; `parent` is the span id that the question was sent with.

    A span below `parent` counts as a root: nothing above it is ever sent. Not thread-safe.
    """

    def __init__(self, limits: AssemblyLimits, parent: bytes = b"") -> None:
        self._parent = parent
        self._frames: list[Frame] = []
        self._assembly, self._fetcher = Assembly(limits), TraceFetcher(self)
        self._closings: list[Closing] = []

    def get(self, seq: int) -> Frame:
        """A request by its number."""
        return self._frames[seq]

    def add(self, signal: Signal, request: Any, now: float) -> None:
        """Adds a request that holds items of this trace alone."""
        frame = Frame(
            seq=len(self._frames),
            signal=signal,
            items=SHAPES[signal].count(request),
            payload=request.SerializeToString(),
        )
        self._frames.append(frame)
        below = _children(request, self._parent) if signal is Signal.TRACES else frozenset()
        for arrival in self._fetcher.arrivals(frame):
            if isinstance(arrival, Arrival) and arrival.ref.span_id in below:
                arrival = arrival._replace(is_root=True)
            self._assembly.add(arrival, now)

    @property
    def is_empty(self) -> bool:
        """Whether nothing of the trace has come."""
        return not self._frames

    def is_closed(self, now: float) -> bool:
        """Whether the trace is complete, by the rules of `[collector.assembly]`."""
        self._closings += self._assembly.close_due(now)
        return bool(self._closings)

    def requests(self) -> Requests:
        """What has come, as JSON."""
        return [
            {"signal": str(frame.signal and frame.signal.value), "otlp": _text(frame.payload)}
            for frame in self._frames
        ]

    def traces(self) -> list[Trace]:
        """The trace as far as it has come; several where one is over the limits of size."""
        self._closings += self._assembly.close_all(Closed.ROOT_ENDED)
        return [self._fetcher.fetch(closing) for closing in self._closings]


def traces_of(requests: object, limits: AssemblyLimits) -> list[Trace]:
    """The traces in requests that were kept as JSON. Raises ValueError where they are none."""
    trace = ArrivingTrace(limits)
    try:
        for row in requests:  # type: ignore[attr-defined]  # a list, or this raises
            signal = Signal(row["signal"])
            trace.add(signal, SHAPES[signal].request.FromString(b64decode(row["otlp"])), 0.0)
    except Exception as error:  # what is kept may be anybody's file
        raise ValueError("is no list of OTLP requests") from error
    return trace.traces()


def by_trace(signal: Signal, request: Any) -> Mapping[bytes, Any]:
    """A request in parts, one for each trace id."""
    shape = SHAPES[signal]
    parts: dict[bytes, Any] = {}
    for container in shape.containers(request):
        for scoped in shape.scopes(container):
            for item in shape.items(scoped):
                part = parts.setdefault(item.trace_id, shape.request())
                copied = shape.containers(part).add(
                    resource=container.resource, schema_url=container.schema_url
                )
                into = shape.scopes(copied).add(scope=scoped.scope, schema_url=scoped.schema_url)
                shape.items(into).append(item)
    return parts


def _children(request: Any, parent: bytes) -> frozenset[bytes]:
    return frozenset(span.span_id for span in _spans(request) if span.parent_span_id == parent)


def _spans(request: Any) -> Iterator[Any]:
    lists: Iterable[Any] = SHAPES[Signal.TRACES].lists(request)
    for spans in lists:
        yield from spans


def _text(payload: bytes) -> str:
    return b64encode(payload).decode("ascii")
