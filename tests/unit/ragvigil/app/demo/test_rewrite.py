"""Other times and other ids in recorded bodies."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from ragvigil.app.demo.recording import JSON, PROTOBUF, Kind, RecordedRequest
from ragvigil.app.demo.rewrite import Change, Unreadable, contents, rewrite

TRACE, ROOT, CHILD, OTHER = b"t" * 16, b"rootspan", b"child-01", b"elsewher"
SECOND = 10**9


def recorded(
    body: bytes, *, kind: Kind = Kind.TRACES, content_type: str = PROTOBUF
) -> RecordedRequest:
    return RecordedRequest(
        name="requests/0001",
        body=body,
        kind=kind,
        path=f"/v1/{kind.value}",
        content_type=content_type,
        received_unix_nano=0,
    )


def traces(*spans: Span) -> RecordedRequest:
    request = ExportTraceServiceRequest()
    request.resource_spans.add().scope_spans.add().spans.extend(spans)
    return recorded(request.SerializeToString())


def spans_of(body: bytes) -> list[Span]:
    request = ExportTraceServiceRequest.FromString(body)
    return [s for r in request.resource_spans for c in r.scope_spans for s in c.spans]


def root(start: int = 100 * SECOND) -> Span:
    return Span(
        trace_id=TRACE,
        span_id=ROOT,
        name="ask",
        start_time_unix_nano=start,
        end_time_unix_nano=start + SECOND,
        events=[Span.Event(name="e", time_unix_nano=start + 5), Span.Event(name="no time")],
        links=[Span.Link(trace_id=TRACE, span_id=CHILD)],
    )


def child() -> Span:
    return Span(trace_id=TRACE, span_id=CHILD, parent_span_id=ROOT, start_time_unix_nano=7)


def test_nothing_to_change_leaves_the_body_as_it_is_even_if_it_is_broken() -> None:
    assert rewrite(recorded(b"\xff\xff"), Change()) == b"\xff\xff"


def test_a_broken_body_cannot_be_changed() -> None:
    with pytest.raises(Unreadable, match="not a protobuf request"):
        rewrite(recorded(b"\xff\xff"), Change(shift_nanos=1))
    with pytest.raises(Unreadable, match="not JSON"):
        rewrite(recorded(b"{", content_type=JSON), Change(shift_nanos=1))


@given(st.integers(min_value=-99 * SECOND, max_value=10**17))
def test_a_shift_moves_every_time_by_exactly_as_much_and_leaves_unknown_times_alone(
    nanos: int,
) -> None:
    (moved,) = spans_of(rewrite(traces(root()), Change(shift_nanos=nanos)))
    assert moved.start_time_unix_nano == 100 * SECOND + nanos
    assert moved.end_time_unix_nano == 101 * SECOND + nanos
    assert [event.time_unix_nano for event in moved.events] == [100 * SECOND + 5 + nanos, 0]
    assert moved.trace_id == TRACE


def test_new_ids_agree_across_requests_for_parents_links_and_logs() -> None:
    change = Change(salt=b"run 1")
    (new_root,) = spans_of(rewrite(traces(root()), change))
    (new_child,) = spans_of(rewrite(traces(child()), change))
    log = ExportLogsServiceRequest()
    log.resource_logs.add().scope_logs.add().log_records.add(trace_id=TRACE, span_id=CHILD)
    body = rewrite(recorded(log.SerializeToString(), kind=Kind.LOGS), change)
    (new_log,) = (
        ExportLogsServiceRequest.FromString(body).resource_logs[0].scope_logs[0].log_records
    )
    assert new_root.trace_id == new_child.trace_id == new_log.trace_id != TRACE
    assert len(new_root.trace_id) == 16
    assert new_child.parent_span_id == new_root.span_id != ROOT
    assert new_child.span_id == new_log.span_id == new_root.links[0].span_id
    assert new_root.parent_span_id == b""


@given(st.binary(min_size=1, max_size=64), st.binary(min_size=1, max_size=64))
def test_other_salts_give_other_ids_and_the_same_salt_the_same(salt: bytes, other: bytes) -> None:
    first, second = (spans_of(rewrite(traces(root()), Change(salt=s)))[0] for s in (salt, other))
    assert (first.trace_id == second.trace_id) == (salt == other)


def test_json_keeps_its_forms_and_gets_the_ids_of_the_protobuf_body() -> None:
    span = {
        "traceId": TRACE.hex().upper(),
        "spanId": CHILD.hex(),
        "parentSpanId": ROOT.hex(),
        "startTimeUnixNano": "7",
        "endTimeUnixNano": 9,
        "links": [{"traceId": TRACE.hex(), "spanId": OTHER.hex()}],
        "attributes": [{"key": "spanId", "value": {"stringValue": "startTimeUnixNano"}}],
    }
    body = orjson.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    change = Change(shift_nanos=10, salt=b"run 1")
    tree = orjson.loads(rewrite(recorded(body, content_type=JSON), change))
    moved = tree["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    (twin,) = spans_of(rewrite(traces(child()), change))
    assert moved["traceId"] == twin.trace_id.hex()
    assert moved["parentSpanId"] == twin.parent_span_id.hex()
    assert (moved["startTimeUnixNano"], moved["endTimeUnixNano"]) == ("17", 19)
    assert moved["attributes"] == span["attributes"]


def test_contents_counts_spans_and_finds_the_last_end() -> None:
    found = contents(traces(root(), child()))
    assert (found.items, found.latest_unix_nano) == (2, 101 * SECOND)
