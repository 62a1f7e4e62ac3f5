"""Makes days of traffic, with a fault, from a few hundred recorded traces."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from ragvigil.app.demo.recording import PROTOBUF, RecordedRequest
from ragvigil.app.demo.replay import OutgoingRequest

HOUR_NANOS = 3_600 * 10**9
DAY_HOURS = 24
BUSIEST_HOUR = 14
"""UTC."""
SWING = 0.6
"""Traffic of the busiest hour over the mean of a day, minus 1; the quietest has 1 - SWING."""
WEEKEND = 0.75
"""Traffic of a weekend's day over that of a weekday."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much traffic: `traces_per_hour` over all routes, the mean of a weekday.

    Routes with faulty recordings use those in the last `fault_hours`. An even plan has the same
    traffic at every hour, so that the hour at which it is made does not matter.
    """

    ends_unix_nano: int
    days: float = 8
    traces_per_hour: float = 72.0
    fault_hours: float = 6.0
    traces_per_request: int = 40
    is_even: bool = False
    seed: int = 11

    @property
    def starts_unix_nano(self) -> int:
        """The beginning of the traffic."""
        return self.ends_unix_nano - int(self.days * DAY_HOURS * HOUR_NANOS)

    @property
    def onset_unix_nano(self) -> int:
        """When the fault begins."""
        return self.ends_unix_nano - int(self.fault_hours * HOUR_NANOS)


class Template:
    """A recorded trace, parsed once, which can be emitted many times with new ids and times.

    Serialising a message of a dozen kilobytes takes about ten microseconds, so setting ids and
    times in the message is as fast as changing its bytes would be, and simpler.
    """

    def __init__(self, request: ExportTraceServiceRequest) -> None:
        self._request = request
        self._spans: list[Any] = list(_spans(request))
        self._start = min(span.start_time_unix_nano for span in self._spans)
        numbers = {span.span_id: number for number, span in enumerate(self._spans)}
        self._parents = [numbers.get(span.parent_span_id) for span in self._spans]
        self._links = [
            (link, numbers[link.span_id])
            for span in self._spans
            for link in span.links
            if link.span_id in numbers
        ]

    @property
    def spans(self) -> int:
        """How many spans the trace has."""
        return len(self._spans)

    @property
    def route(self) -> str:
        """`http.route` of its SERVER span, empty where there is none."""
        for span in self._spans:
            if span.kind == Span.SPAN_KIND_SERVER:
                for attribute in span.attributes:
                    if attribute.key == "http.route":
                        return str(attribute.value.string_value)
        return ""

    def emit(self, start_unix_nano: int, dice: random.Random) -> bytes:
        """The trace as a request body of its own, beginning at `start_unix_nano`, with new ids.

        Bodies of several traces may be joined: repeated fields of protobuf messages add up.
        """
        trace_id = dice.randbytes(16)
        ids = [dice.randbytes(8) for _ in self._spans]
        shift = start_unix_nano - self._start
        self._start = start_unix_nano
        for span, span_id, parent in zip(self._spans, ids, self._parents, strict=True):
            span.trace_id, span.span_id = trace_id, span_id
            if parent is not None:
                span.parent_span_id = ids[parent]
            span.start_time_unix_nano += shift
            span.end_time_unix_nano += shift
            for event in span.events:
                event.time_unix_nano += shift
        for link, number in self._links:
            link.trace_id, link.span_id = trace_id, ids[number]
        body: bytes = self._request.SerializeToString()
        return body


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """One trace of the schedule."""

    start_unix_nano: int
    template: Template


def templates(recording: Iterable[RecordedRequest]) -> dict[str, list[Template]]:
    """The traces of a protobuf recording by route, in the order of their first spans.

    Traces may lie in several requests. Raises google.protobuf's DecodeError on a broken body.
    """
    by_trace: dict[bytes, ExportTraceServiceRequest] = {}
    for recorded in recording:
        for resource_spans in ExportTraceServiceRequest.FromString(recorded.body).resource_spans:
            for scope_spans in resource_spans.scope_spans:
                for span in scope_spans.spans:
                    request = by_trace.setdefault(span.trace_id, ExportTraceServiceRequest())
                    _add(request, resource_spans, scope_spans, span)
    by_route: dict[str, list[Template]] = {}
    for request in by_trace.values():
        template = Template(request)
        by_route.setdefault(template.route, []).append(template)
    return by_route


def schedule(
    healthy: Mapping[str, Sequence[Template]],
    faulty: Mapping[str, Sequence[Template]],
    plan: Plan,
) -> Iterator[Arrival]:
    """The traffic of a plan in order of time, with daily and weekly swings; the same per seed."""
    dice = random.Random(plan.seed)
    routes = sorted(healthy)
    weights = [len(healthy[route]) for route in routes]
    decks = {
        (is_faulty, route): _deal(by_route[route], dice)
        for is_faulty, by_route in ((False, healthy), (True, faulty))
        for route in by_route
    }
    # Thinning: traces arrive at the rate of the busiest hour, and a share of them is kept that
    # follows the day and the week.
    peak = plan.traces_per_hour * (1 + SWING)
    at = plan.starts_unix_nano
    while True:
        at += int(dice.expovariate(peak) * HOUR_NANOS)
        if at >= plan.ends_unix_nano:
            return
        if dice.random() * (1 + SWING) > (1.0 if plan.is_even else day_factor(at)):
            continue
        route = dice.choices(routes, weights)[0]
        is_faulty = route in faulty and at >= plan.onset_unix_nano
        yield Arrival(start_unix_nano=at, template=next(decks[is_faulty, route]))


def _deal(traces: Sequence[Template], dice: random.Random) -> Iterator[Template]:
    """Deals traces like cards: each comes once before any comes again."""
    while True:
        yield from dice.sample(traces, len(traces))


def day_factor(unix_nano: int) -> float:
    """Traffic relative to the mean of a weekday, by UTC; weekends are quieter."""
    hours = unix_nano / HOUR_NANOS
    course = 1 + SWING * math.cos((hours % DAY_HOURS - BUSIEST_HOUR) / DAY_HOURS * 2 * math.pi)
    # 1 January 1970 was a Thursday.
    is_weekend = (int(hours // DAY_HOURS) + 3) % 7 >= 5
    return course * (WEEKEND if is_weekend else 1.0)


def requests(arrivals: Iterable[Arrival], plan: Plan) -> Iterator[OutgoingRequest]:
    """The schedule as OTLP requests of `traces_per_request` traces each, in order of time."""
    dice = random.Random(plan.seed + 1)  # of its own: ids do not change the schedule
    parts: list[bytes] = []
    spans = 0
    for arrival in arrivals:
        parts.append(arrival.template.emit(arrival.start_unix_nano, dice))
        spans += arrival.template.spans
        if len(parts) == plan.traces_per_request:
            yield _request(parts, spans)
            parts, spans = [], 0
    if parts:
        yield _request(parts, spans)


def _request(parts: list[bytes], spans: int) -> OutgoingRequest:
    return OutgoingRequest(
        body=b"".join(parts), path="/v1/traces", content_type=PROTOBUF, items=spans
    )


def _spans(request: ExportTraceServiceRequest) -> Iterator[Any]:
    for resource_spans in request.resource_spans:
        for scope_spans in resource_spans.scope_spans:
            yield from scope_spans.spans


def _add(request: Any, resource_spans: Any, scope_spans: Any, span: Any) -> None:
    """Adds a span to a trace's request under its resource and scope."""
    resources = request.resource_spans
    if not resources or resources[-1].resource != resource_spans.resource:
        resources.add(resource=resource_spans.resource, schema_url=resource_spans.schema_url)
    scopes = resources[-1].scope_spans
    if not scopes or scopes[-1].scope != scope_spans.scope:
        scopes.add(scope=scope_spans.scope, schema_url=scope_spans.schema_url)
    scopes[-1].spans.append(span)
