"""The Collector's file exporter: both formats, compressed or not, damaged or cut short."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from backports import zstd
from google.protobuf.json_format import MessageToDict
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.backfill.collector_file import BATCH_ITEMS, NotImportable, Piece, pieces
from ragvigil.model.span import Signal, SpanKind, StatusCode
from tests.exports import spans_of


def request(number: int, spans: int = 2) -> ExportTraceServiceRequest:
    made = ExportTraceServiceRequest()
    scope = made.resource_spans.add().scope_spans.add()
    for place in range(spans):
        scope.spans.add(
            trace_id=(number + 1).to_bytes(16, "big"),
            span_id=(place + 1).to_bytes(8, "big"),
            name=f"{number}-{place}",
        )
    return made


def line(made: ExportTraceServiceRequest) -> bytes:
    """As the exporter writes JSON: ids in hex."""
    form = MessageToDict(made)
    for resource in form["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for place, span in enumerate(scope["spans"]):
                source = made.resource_spans[0].scope_spans[0].spans[place]
                span["traceId"], span["spanId"] = source.trace_id.hex(), source.span_id.hex()
    return json.dumps(form).encode() + b"\n"


def framed(made: ExportTraceServiceRequest) -> bytes:
    body = made.SerializeToString()
    return len(body).to_bytes(4, "big") + body


def names(found: list[Piece]) -> list[str]:
    return [
        span.name
        for piece in found
        for resource in ExportTraceServiceRequest.FromString(piece.payload).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


EXPECTED = [f"{number}-{place}" for number in range(5) for place in range(2)]


@pytest.mark.parametrize("write", [line, framed])
@pytest.mark.parametrize("is_packed", [False, True])
def test_every_request_of_the_file_is_read(tmp_path: Path, write: object, is_packed: bool) -> None:
    assert callable(write)
    body = b"".join(write(request(number)) for number in range(5))
    path = tmp_path / "traces"
    path.write_bytes(gzip.compress(body) if is_packed else body)
    batches = list(pieces(path, 0))
    assert names(batches) == EXPECTED
    assert sum(piece.items for piece in batches) == len(EXPECTED)
    assert batches[-1].end == len(body)


@pytest.mark.parametrize("write", [line, framed])
def test_a_request_that_the_exporter_packed_by_itself_is_read(
    tmp_path: Path, write: object
) -> None:
    """`compression: zstd` puts packed JSON behind a length too, and ends it with no newline."""
    assert callable(write)
    packed = [zstd.compress(write(request(number)).strip()) for number in range(5)]
    if write is framed:
        packed = [zstd.compress(request(number).SerializeToString()) for number in range(5)]
    path = tmp_path / "traces.json.zst"
    path.write_bytes(b"".join(len(body).to_bytes(4, "big") + body for body in packed))
    batches = list(pieces(path, 0))
    assert names(batches) == EXPECTED
    assert batches[-1].end == path.stat().st_size


@pytest.mark.parametrize("write", [line, framed])
def test_a_file_that_is_packed_as_a_whole_with_zstd_is_read(tmp_path: Path, write: object) -> None:
    assert callable(write)
    body = b"".join(write(request(number)) for number in range(5))
    path = tmp_path / "traces.zst"
    path.write_bytes(zstd.compress(body))
    batches = list(pieces(path, 0))
    assert names(batches) == EXPECTED
    assert batches[-1].end == len(body)
    assert names(list(pieces(path, batches[-1].end))) == []


def test_a_packed_request_that_is_cut_short_is_told(tmp_path: Path) -> None:
    packed = zstd.compress(request(0).SerializeToString())[:-3]
    path = tmp_path / "traces.zst"
    path.write_bytes(len(packed).to_bytes(4, "big") + packed)
    with pytest.raises(NotImportable, match="the request at byte 0 is cut short"):
        list(pieces(path, 0))


@pytest.mark.parametrize("other", ['{"resource_spans": []}', '{"name": "chat", "traceId": "1"}'])
def test_json_that_is_no_request_is_counted_and_not_taken_for_an_empty_one(
    tmp_path: Path, other: str
) -> None:
    path = tmp_path / "traces.json"
    path.write_bytes(line(request(0)) + other.encode() + b"\n{}\n" + line(request(1)))
    (piece,) = pieces(path, 0)
    assert names([piece]) == EXPECTED[:4]
    (why,) = piece.refused
    assert why.endswith("names neither resourceSpans nor resourceLogs")


def test_what_the_exporter_leaves_empty_is_absent(tmp_path: Path) -> None:
    """The form of the exporter: numbers for enums, `flags`, an empty parent and status, schemas."""
    span = {
        "traceId": "1" * 32, "spanId": "2" * 16, "parentSpanId": "", "flags": 256, "name": "ask",
        "kind": 2, "startTimeUnixNano": "1773906512955000000", "status": {},
        "endTimeUnixNano": "1773906513955000000",
        "attributes": [
            {"key": "n", "value": {"intValue": "7"}},
            {"key": "x", "value": {"doubleValue": 0.5}},
            {"key": "l", "value": {"arrayValue": {"values": [{"stringValue": "a"}]}}},
        ],
        "events": [{"timeUnixNano": "1773906513000000000", "name": "e"}],
    }  # fmt: skip
    schema = {"schemaUrl": "https://opentelemetry.io/schemas/1.24.0"}
    scopes = [{"scope": {"name": "s"}, "spans": [span], **schema}]
    resource = {"resource": {"attributes": []}, "scopeSpans": scopes, **schema}
    path = tmp_path / "traces.json"
    path.write_bytes(json.dumps({"resourceSpans": [resource]}).encode() + b"\n")
    (found,) = spans_of(pieces(path, 0))
    assert not found.parent_span_id
    assert (found.kind, found.status, found.name) == (SpanKind.SERVER, StatusCode.UNSET, "ask")
    assert (found.start_unix_nano, found.end_unix_nano) == (
        1773906512955000000,
        1773906513955000000,
    )
    values = {key: found.attributes[key] for key in ("n", "x")}
    assert values == {"n": 7, "x": 0.5}
    assert found.attributes["l"] in (["a"], ("a",))
    assert [event.name for event in found.events] == ["e"]


@settings(deadline=None)
@given(st.lists(st.integers(1, 400), min_size=1, max_size=12), st.data())
def test_a_run_that_was_stopped_goes_on_without_loss_or_repetition(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("import") / "traces.json"
    path.write_bytes(b"".join(line(request(n, spans)) for n, spans in enumerate(sizes)))
    whole = list(pieces(path, 0))
    assert all(piece.items < BATCH_ITEMS + max(sizes) for piece in whole)
    stopped = data.draw(st.integers(0, len(whole)))
    start = whole[stopped - 1].end if stopped else 0
    assert names(whole[:stopped]) + names(list(pieces(path, start))) == names(whole)


def test_a_line_that_is_no_request_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "traces.json"
    first = line(request(0))
    path.write_bytes(first + b'{"resourceSpans": [{"scope\n' + line(request(1)))
    (piece,) = pieces(path, 0)
    assert names([piece]) == EXPECTED[:4]
    assert piece.refused[0].startswith(f"the line at byte {len(first)}: ")


def test_logs_and_traces_of_one_file_are_kept_apart_and_metrics_left_out(tmp_path: Path) -> None:
    log = {
        "resourceLogs": [
            {"scopeLogs": [{"logRecords": [{"traceId": "1" * 32, "spanId": "2" * 16}]}]}
        ]
    }
    path = tmp_path / "mixed.json"
    path.write_bytes(
        line(request(0)) + json.dumps(log).encode() + b"\n" + b'{"resourceMetrics": []}\n'
    )
    assert [piece.signal for piece in pieces(path, 0)] == [Signal.TRACES, Signal.LOGS]


def test_a_file_cut_in_the_middle_of_a_request_says_so_after_what_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "traces.pb"
    path.write_bytes(framed(request(0)) + framed(request(1))[:-3])
    with pytest.raises(NotImportable, match="ends within the request at byte"):
        list(pieces(path, 0))


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (b"\x28\xb5\x2f\xfd....", "cannot be read"),
        (b"\xff" * 40, "no request of the file exporter"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_way_out(
    tmp_path: Path, head: bytes, message: str
) -> None:
    path = tmp_path / "traces"
    path.write_bytes(head)
    with pytest.raises(NotImportable, match=message):
        list(pieces(path, 0))
