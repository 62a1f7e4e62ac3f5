"""Decoding: protobuf and JSON say the same, nothing breaks it, bad items cost themselves."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from collector.decode.otlp import DecodedRequest, Encoding, decode
from collector.decode.spans import decode_spans
from collector.metrics import IGNORED
from collector.refusal import Malformed, Rejection, TooLarge
from collector.settings import LimitSettings
from ragvigil.model.span import Signal
from tests.otlp import encode, log_request, spans_of, trace_request

LIMITS = LimitSettings()


def read(body: bytes, encoding: Encoding = Encoding.PROTOBUF, **limits: int) -> DecodedRequest:
    return decode(body, encoding, Signal.TRACES, LimitSettings(**limits))


def read_json(span: dict[str, Any], *, raw: str = "") -> DecodedRequest:
    ids = {"traceId": "0123456789abcdef" * 2, "spanId": "0123456789abcdef"}
    document = {"resourceSpans": [{"scopeSpans": [{"spans": [{**ids, **span}]}]}]}
    return read((raw or json.dumps(document)).encode(), Encoding.JSON)


def attribute(value: dict[str, Any]) -> Any:
    """What a JSON AnyValue becomes."""
    (span,) = decode_spans(read_json({"attributes": [{"key": "k", "value": value}]}).request)
    return span.attributes["k"]


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
scalars = st.one_of(
    texts.map(lambda text: AnyValue(string_value=text)),
    st.booleans().map(lambda flag: AnyValue(bool_value=flag)),
    st.integers(-(1 << 63), (1 << 63) - 1).map(lambda number: AnyValue(int_value=number)),
    st.floats().map(lambda number: AnyValue(double_value=number)),
    st.binary(max_size=12).map(lambda raw: AnyValue(bytes_value=raw)),
    st.just(AnyValue()),
)


def arrays(values: list[AnyValue]) -> AnyValue:
    value = AnyValue()
    value.array_value.values.extend(values)
    return value


def maps(pairs: dict[str, AnyValue]) -> AnyValue:
    value = AnyValue()
    value.kvlist_value.SetInParent()
    for key, child in pairs.items():
        value.kvlist_value.values.add(key=key, value=child)
    return value


values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(arrays),
        st.dictionaries(texts, inner, max_size=3).map(maps),
    ),
    max_leaves=6,
)


@st.composite
def requests(draw: st.DrawFn) -> ExportTraceServiceRequest:
    """Sound requests with every kind of value."""
    request = trace_request(draw(st.integers(0, 3)))
    for span in spans_of(request):
        span.name = draw(texts)
        span.kind = draw(st.integers(0, 5))
        span.trace_state = draw(texts)
        span.parent_span_id = draw(st.one_of(st.just(b""), st.binary(min_size=8, max_size=8)))
        for key, value in draw(st.dictionaries(texts, values, max_size=4)).items():
            span.attributes.add(key=key, value=value)
        for name in draw(st.lists(texts, max_size=2)):
            event = span.events.add(name=name, time_unix_nano=draw(st.integers(0, 1 << 62)))
            event.attributes.add(key="e", value=draw(values))
        for raw in draw(st.lists(st.binary(min_size=8, max_size=8), max_size=1)):
            span.links.add(trace_id=raw * 2, span_id=raw)
        if draw(st.booleans()):
            span.status.code = draw(st.integers(0, 2))
            span.status.message = draw(texts)
    return request


@given(requests())
def test_json_and_protobuf_of_the_same_spans_are_the_same_request(
    request: ExportTraceServiceRequest,
) -> None:
    from_protobuf = read(request.SerializeToString())
    from_json = read(encode(request, "json"), Encoding.JSON)
    # Text form, because NaN does not equal itself.
    assert str(from_json.request) == str(from_protobuf.request)
    assert from_json.items == from_protobuf.items == len(spans_of(request))
    assert repr(decode_spans(from_json.request)) == repr(decode_spans(from_protobuf.request))


@given(requests())
def test_decoding_what_was_encoded_changes_no_byte(request: ExportTraceServiceRequest) -> None:
    body = request.SerializeToString()
    read_back = read(body)
    assert read_back.payload() == body
    assert not read_back.rejected


def mutate(body: bytes, edits: list[tuple[int, int]]) -> bytes:
    changed = bytearray(body)
    for place, byte in edits:
        changed[place % len(changed)] = byte
    return bytes(changed)


EDITS = st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), min_size=1, max_size=8)
RICH = trace_request(4, question="where?", answer="there [1]")
RICH_LOGS = log_request(4)


@given(EDITS, st.integers(0, 60), st.sampled_from(list(Encoding)), st.sampled_from(list(Signal)))
def test_mutated_bodies_are_refused_or_read_and_never_crash(
    edits: list[tuple[int, int]], cut: int, encoding: Encoding, signal: Signal
) -> None:
    sound = RICH if signal is Signal.TRACES else RICH_LOGS
    body = encode(sound, encoding.value)
    try:
        got = decode(mutate(body, edits)[: len(body) - cut], encoding, signal, LIMITS)
    except (Malformed, TooLarge):
        return
    again = decode(got.payload(), Encoding.PROTOBUF, signal, LIMITS)
    assert (again.items, again.rejected.total()) == (got.items, 0)


def is_read_or_refused(body: bytes, encoding: Encoding) -> bool:
    """True, or whatever else decoding raised."""
    try:
        read(body, encoding)
    except (Malformed, TooLarge):
        return True
    return True


@given(st.binary(max_size=200), st.sampled_from(list(Encoding)))
def test_noise_is_refused_or_read_and_never_crashes(body: bytes, encoding: Encoding) -> None:
    assert is_read_or_refused(body, encoding)


KEYS = """
resourceSpans scopeSpans spans traceId spanId name kind attributes key value events links status
code stringValue intValue doubleValue arrayValue kvlistValue values bytesValue boolValue resource
scope startTimeUnixNano
"""
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS.split()),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(json_values)
def test_any_json_is_refused_or_read_and_never_crashes(value: Any) -> None:
    spans = {"resourceSpans": [{"scopeSpans": [{"spans": [value]}]}]}
    for document in (value, {"resourceSpans": value}, spans):
        assert is_read_or_refused(json.dumps(document).encode(), Encoding.JSON)


def framed(tag: bytes, body: bytes) -> bytes:
    return tag + varint(len(body)) + body


def nested_protobuf(depth: int, kind: str) -> bytes:
    """A trace of two spans, the second with a value `depth` lists or maps deep."""
    value = framed(b"\x0a", b"core")
    for _ in range(depth):
        if kind == "map":
            value = framed(b"\x0a", b"k") + framed(b"\x12", value)
        value = framed(b"\x2a" if kind == "array" else b"\x32", framed(b"\x0a", value))
    attribute = framed(b"\x4a", framed(b"\x0a", b"deep") + framed(b"\x12", value))
    first, second = (span.SerializeToString() for span in spans_of(trace_request(2)))
    spans = framed(b"\x12", first) + framed(b"\x12", second + attribute)
    return framed(b"\x0a", framed(b"\x12", spans))


def nested_json(depth: int, kind: str) -> bytes:
    """The same in JSON."""
    opening, closing = '{"arrayValue":{"values":[', "]}}"
    if kind == "map":
        opening, closing = '{"kvlistValue":{"values":[{"key":"k","value":', "}]}}"
    value = opening * depth + '{"stringValue":"core"}' + closing * depth
    document = json.loads(encode(trace_request(2, deep="DEEP"), "json"))
    spans = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    del spans[0]["attributes"]
    return json.dumps(document).replace('{"stringValue": "DEEP"}', value).encode()


@pytest.mark.parametrize("kind", ["array", "map"])
@pytest.mark.parametrize("encoding", list(Encoding))
@pytest.mark.parametrize(("depth", "rejected"), [(20, 0), (21, 1), (40, 1), (200, 1)])
def test_values_nested_deeper_than_twenty_cost_their_span(
    kind: str, encoding: Encoding, depth: int, rejected: int
) -> None:
    nested = nested_protobuf if encoding is Encoding.PROTOBUF else nested_json
    got = read(nested(depth, kind), encoding)
    assert got.items == 2 - rejected
    assert got.rejected == ({Rejection.TOO_DEEP: 1} if rejected else {})


def test_json_nested_a_hundred_thousand_times_is_malformed() -> None:
    with pytest.raises(Malformed):
        read(b'{"resourceSpans":' + b"[" * 100_000, Encoding.JSON)


def test_more_spans_than_allowed_are_too_large() -> None:
    with pytest.raises(TooLarge, match="4 items in one request; 3 are allowed"):
        read(trace_request(4).SerializeToString(), max_items=3)


def test_a_large_body_of_empty_spans_is_refused_before_it_is_parsed() -> None:
    spans = b"\x12\x00" * 300_000
    scoped = b"\x12" + varint(len(spans)) + spans
    with pytest.raises(TooLarge, match="300000 items"):
        read(b"\x0a" + varint(len(scoped)) + scoped)


def varint(number: int) -> bytes:
    low = [number >> shift & 0x7F for shift in range(0, max(number.bit_length(), 1), 7)]
    return bytes([*(byte | 0x80 for byte in low[:-1]), low[-1]])


def test_log_records_of_no_trace_are_left_out_and_not_rejected() -> None:
    request = log_request(3)
    spans_of(request)[0].trace_id = b""
    got = decode(request.SerializeToString(), Encoding.PROTOBUF, Signal.LOGS, LIMITS)
    assert (got.items, got.rejected.total()) == (2, 0)


@pytest.mark.parametrize(
    ("value", "python"),
    [
        ({"stringValue": "x"}, "x"),
        ({"intValue": "42"}, 42),
        ({"intValue": 42}, 42),
        ({"intValue": -(1 << 63)}, -(1 << 63)),
        ({"intValue": "99999999999999999999"}, "99999999999999999999"),
        ({"doubleValue": "Infinity"}, math.inf),
        ({"doubleValue": "-Infinity"}, -math.inf),
        ({"doubleValue": 3}, 3.0),
        ({"boolValue": True}, True),
        ({"bytesValue": "aGk="}, b"hi"),
        ({"bytesValue": "_-8"}, b"\xff\xef"),
        ({"arrayValue": {"values": [{"stringValue": "a"}, {}]}}, ["a", None]),
        ({"kvlistValue": {"values": [{"key": "a", "value": {"intValue": 1}}]}}, {"a": 1}),
        ({"arrayValue": {}}, []),
        ({"unknownValue": 3}, None),
        ({}, None),
        ({"stringValue": None}, None),
    ],
)
def test_every_form_of_a_json_value_is_read(value: dict[str, Any], python: Any) -> None:
    assert attribute(value) == python


def test_nan_is_read_and_stays_nan() -> None:
    assert math.isnan(attribute({"doubleValue": "NaN"}))


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": 5},
        {"startTimeUnixNano": "soon"},
        {"startTimeUnixNano": -1},
        {"endTimeUnixNano": 1 << 70},
        {"attributes": {"key": "value"}},
        {"attributes": [{"key": "k", "value": {"boolValue": "yes"}}]},
        {"attributes": [{"key": "k", "value": {"bytesValue": "%%%"}}]},
        {"events": [7]},
        {"status": "ok"},
    ],
    ids=str,
)
def test_a_wrong_json_field_costs_its_span(wrong: dict[str, Any]) -> None:
    got = read_json(wrong)
    assert (got.items, got.rejected) == (0, {Rejection.UNREADABLE: 1})


def test_ids_are_hex_in_either_case_or_base64_of_their_length() -> None:
    for trace_id in ("0123456789ABCDEF0123456789abcdef", "ASNFZ4mrze8BI0VniavN7w=="):
        got = read_json({"traceId": trace_id})
        assert spans_of(got.request)[0].trace_id.hex() == "0123456789abcdef" * 2


def test_a_lone_surrogate_becomes_a_replacement_character() -> None:
    body = (
        r'{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"'
        + "0123456789abcdef" * 2
        + r'","spanId":"0123456789abcdef","name":"cut \ud83d"}]}]}]}'
    )
    (span,) = spans_of(read_json({}, raw=body).request)
    assert span.name == "cut �"


@pytest.mark.parametrize(
    "body",
    [b"[]", b"1", b"null", b'{"resourceSpans": 3}', b'{"resourceSpans": [3]}', b"{", b"\xff"],
)
def test_json_that_is_no_request_is_malformed(body: bytes) -> None:
    with pytest.raises(Malformed):
        read(body, Encoding.JSON)


def test_unknown_json_fields_are_ignored_and_those_of_the_request_counted() -> None:
    before = ignored("json_field")
    body = b'{"resourceSpans": [{"future": 1, "scopeSpans": [{"spans": [], "x": {}}]}], "more": []}'
    assert read(body, Encoding.JSON).items == 0
    assert ignored("json_field") == before + 1


def test_a_request_of_unknown_fields_alone_is_told_so() -> None:
    got = read(b'{"resourceLogs": [], "Resource_Spans": []}', Encoding.JSON)
    told = "nothing was read: Resource_Spans, resourceLogs is no field of a traces request"
    assert (got.items, got.message) == (0, told)
    assert read(b"{}", Encoding.JSON).message == ""
    assert read_json({"more": 1}).message == ""


def ignored(kind: str) -> float:
    return IGNORED.labels(kind=kind)._value.get()


@given(requests())
def test_proto3_json_with_the_original_field_names_is_the_same_request(
    request: ExportTraceServiceRequest,
) -> None:
    """As `json_format` writes it: snake case, names of enums, ids in base64."""
    plain = MessageToDict(request, preserving_proto_field_name=True)
    got = read(json.dumps(plain).encode(), Encoding.JSON)
    assert str(got.request) == str(read(request.SerializeToString()).request)


def test_logs_are_read_under_their_original_field_names() -> None:
    request = log_request(3)
    record = spans_of(request)[0]
    record.severity_text, record.event_name = "INFO", "gen_ai.choice"
    record.observed_time_unix_nano = 7
    record.body.kvlist_value.values.add(key="a_key").value.int_value = 3
    body = json.dumps(MessageToDict(request, preserving_proto_field_name=True)).encode()
    got = decode(body, Encoding.JSON, Signal.LOGS, LIMITS)
    assert str(got.request) == str(request)


def test_names_in_texts_and_keys_of_attributes_are_no_field_names() -> None:
    said = '{"trace_id": "x", "string_value": 1}'
    both = {"attributes": [{"key": "trace_id", "value": {"string_value": said}}],
            "parent_span_id": "0" * 15 + "1", "parentSpanId": "0" * 15 + "2"}  # fmt: skip
    (span,) = decode_spans(read_json(both).request)
    assert span.attributes == {"trace_id": said}
    assert span.parent_span_id == "0" * 15 + "2"
