"""Protobuf spans and log records as frozen values: every kind of value, nothing raises."""

from __future__ import annotations

import contextlib
import dataclasses

from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage

from collector.decode.spans import decode_logs, decode_spans, iterate, to_span
from ragvigil.model.span import Resource, Scope, SpanKind, StatusCode
from tests.otlp import log_request, spans_of, trace_request


def test_a_span_keeps_everything_it_was_sent_with() -> None:
    request = trace_request(1, question="why?")
    message = spans_of(request)[0]
    message.parent_span_id = b"\x09" * 8
    message.kind, message.trace_state = 2, "ot=th:8"
    message.status.code, message.status.message = 2, "boom"
    message.dropped_attributes_count = 3
    message.events.add(name="e", time_unix_nano=5).attributes.add(key="n").value.int_value = 1
    message.links.add(trace_id=b"\x01" * 16, span_id=b"\x02" * 8, trace_state="s")
    (span,) = decode_spans(request)
    assert (span.trace_id, span.span_id) == ("0102030405060708090a0b0c0d0e0f10", "0000000000000001")
    assert span.parent_span_id == "09" * 8
    assert (span.kind, span.status, span.status_message) == (
        SpanKind.SERVER,
        StatusCode.ERROR,
        "boom",
    )
    assert span.attributes == {"question": "why?"}
    assert (span.events[0].name, span.events[0].attributes) == ("e", {"n": 1})
    assert (span.links[0].span_id, span.links[0].trace_state) == ("02" * 8, "s")
    assert (span.trace_state, span.dropped_attributes_count) == ("ot=th:8", 3)
    assert (span.resource.attributes, span.scope.name) == ({"service.name": "helpdesk"}, "test")


def test_a_parent_of_zeros_is_no_parent() -> None:
    request = trace_request()
    spans_of(request)[0].parent_span_id = bytes(8)
    assert decode_spans(request)[0].parent_span_id == ""


def test_kinds_and_codes_from_the_future_are_read_as_unspecified() -> None:
    request = trace_request()
    spans_of(request)[0].kind = 99
    spans_of(request)[0].status.code = 77
    (span,) = decode_spans(request)
    assert (span.kind, span.status) == (SpanKind.UNSPECIFIED, StatusCode.UNSET)


def test_a_text_beyond_one_mebibyte_is_cut_with_a_mark_and_its_length() -> None:
    (span,) = decode_spans(trace_request(1, whole="x" * (1 << 20), cut="y" * 1_500_000))
    assert span.attributes["whole"] == "x" * (1 << 20)
    assert str(span.attributes["cut"]).endswith("y…[cut from 1500000 characters]")
    assert len(str(span.attributes["cut"])) < 1_100_000


def test_the_last_value_of_a_doubled_key_holds() -> None:
    request = trace_request(1, key="first")
    spans_of(request)[0].attributes.add(key="key").value.string_value = "last"
    assert decode_spans(request)[0].attributes == {"key": "last"}


def test_the_flat_index_runs_over_all_resources_and_scopes() -> None:
    request = trace_request(2)
    request.MergeFrom(trace_request(1))
    request.resource_spans[0].scope_spans.add().spans.add(span_id=b"\x07" * 8)
    order = [item.span_id[-1] for _, _, item in iterate(request)]
    assert order == [1, 2, 7, 1]
    assert [int(span.span_id[-2:], 16) for span in decode_spans(request)] == order


def test_a_log_record_takes_its_event_name_from_field_or_attribute() -> None:
    request = log_request(2, body="hi")
    spans_of(request)[0].event_name = "gen_ai.choice"
    spans_of(request)[1].attributes.add(key="event.name").value.string_value = "gen_ai.user"
    spans_of(request)[1].time_unix_nano = 0
    spans_of(request)[1].observed_time_unix_nano = 9
    first, second = decode_logs(request)
    assert (first.event_name, first.body, first.time_unix_nano) == ("gen_ai.choice", "hi", 1)
    assert (second.event_name, second.time_unix_nano) == ("gen_ai.user", 9)
    assert [item.time_unix_nano for _, _, item in iterate(request)] == [1, 0]


@given(st.binary(max_size=80))
def test_whatever_parses_becomes_a_span(body: bytes) -> None:
    message = SpanMessage()
    with contextlib.suppress(DecodeError):
        message.ParseFromString(body)
    span = to_span(Resource(), Scope(), message)
    assert dataclasses.is_dataclass(span)
