"""The Collector's file exporter: both formats, compressed or not, damaged or cut short."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from google.protobuf.json_format import MessageToDict
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from ragvigil.app.import_collector_file import BATCH_ITEMS, NotImportable, Piece, pieces
from ragvigil.model.span import Signal


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
    found = list(pieces(path, 0))
    assert names(found) == EXPECTED
    assert sum(piece.items for piece in found) == len(EXPECTED)
    assert found[-1].end == len(body)


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
    (found,) = pieces(path, 0)
    assert names([found]) == EXPECTED[:4]
    assert found.refused[0].startswith(f"the line at byte {len(first)}: ")


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
    ("head", "message"), [(b"\x28\xb5\x2f\xfd....", "unzstd"), (b"\xff" * 40, "begins no request")]
)
def test_what_cannot_be_read_is_refused_with_the_way_out(
    tmp_path: Path, head: bytes, message: str
) -> None:
    path = tmp_path / "traces"
    path.write_bytes(head)
    with pytest.raises(NotImportable, match=message):
        list(pieces(path, 0))
