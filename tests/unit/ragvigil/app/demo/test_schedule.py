"""Eight days of traffic out of recorded traces."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from ragvigil.app.demo.recording import read_recording
from ragvigil.app.demo.schedule import HOUR_NANOS, Plan, Template, requests, schedule, templates

RECORDED = Path(__file__).parents[5] / "examples/helpdesk/recorded"
ENDS = 1_790_000_000 * 10**9
PLAN = Plan(ends_unix_nano=ENDS, days=2, traces_per_hour=30)
ByRoute = dict[str, list[Template]]


@pytest.fixture(scope="module")
def healthy() -> ByRoute:
    return templates(read_recording(RECORDED / "healthy"))


@pytest.fixture(scope="module")
def faulty() -> ByRoute:
    return templates(read_recording(RECORDED / "fabricated_quotes"))


def spans_of(body: bytes) -> list[Span]:
    request = ExportTraceServiceRequest.FromString(body)
    return [s for r in request.resource_spans for c in r.scope_spans for s in c.spans]


def shape(spans: list[Span]) -> list[tuple[str, int | None, int, int]]:
    """What a trace is without its ids and its date."""
    numbers = {span.span_id: number for number, span in enumerate(spans)}
    start = min(span.start_time_unix_nano for span in spans)
    return [
        (
            span.name,
            numbers.get(span.parent_span_id),
            span.start_time_unix_nano - start,
            span.end_time_unix_nano - start,
        )
        for span in spans
    ]


def test_the_recording_holds_five_routes_and_the_fault_one(
    healthy: ByRoute, faulty: ByRoute
) -> None:
    assert len(healthy) == 5
    assert set(faulty) == {"/refunds/ask"}


def test_an_emitted_trace_has_the_shape_of_the_recorded_one_and_fresh_ids(
    healthy: ByRoute,
) -> None:
    template = healthy["/chat"][0]
    first = spans_of(template.emit(ENDS, random.Random(1)))
    second = spans_of(template.emit(ENDS + 77, random.Random(2)))
    assert shape(first) == shape(second)
    assert min(span.start_time_unix_nano for span in second) == ENDS + 77
    assert not {s.span_id for s in first} & {s.span_id for s in second}
    assert len({s.trace_id for s in first}) == 1
    assert sum(parent is None for _, parent, _, _ in shape(first)) == 1


def test_the_traffic_comes_in_order_of_time_and_within_its_days(
    healthy: ByRoute, faulty: ByRoute
) -> None:
    times = [arrival.start_unix_nano for arrival in schedule(healthy, faulty, PLAN)]
    assert all(earlier <= later for earlier, later in pairwise(times))
    assert PLAN.starts_unix_nano <= times[0] <= times[-1] < ENDS
    assert 0.6 < len(times) / (PLAN.traces_per_hour * 48) < 1.2


def test_the_fault_is_on_its_route_alone_and_from_its_onset_on(
    healthy: ByRoute, faulty: ByRoute
) -> None:
    bad = set(faulty["/refunds/ask"])
    for arrival in schedule(healthy, faulty, PLAN):
        late = arrival.start_unix_nano >= ENDS - 6 * HOUR_NANOS
        assert (arrival.template in bad) == (late and arrival.template.route == "/refunds/ask")


def test_the_same_seed_gives_the_same_bytes(faulty: ByRoute) -> None:
    fresh = [templates(read_recording(RECORDED / "healthy")) for _ in range(2)]
    first, second = (
        [outgoing.body for outgoing in requests(schedule(healthy, faulty, PLAN), PLAN)]
        for healthy in fresh
    )
    assert first == second


def test_requests_hold_whole_traces_and_say_how_many_spans(
    healthy: ByRoute, faulty: ByRoute
) -> None:
    arrivals = list(schedule(healthy, faulty, PLAN))
    sent = list(requests(arrivals, PLAN))
    traces_per_body = []
    for outgoing in sent:
        spans = spans_of(outgoing.body)
        assert len(spans) == outgoing.items
        traces_per_body.append(len({span.trace_id for span in spans}))
    assert sum(traces_per_body) == len(arrivals)
    assert set(traces_per_body[:-1]) == {PLAN.traces_per_request}
