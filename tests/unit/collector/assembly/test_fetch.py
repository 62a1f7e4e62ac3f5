"""From frames to arrivals and from closings to traces, through a real spool."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from prometheus_client import REGISTRY

from collector.assembly.assembly import Assembly
from collector.assembly.fetch import TraceFetcher, Unfetched
from collector.assembly.refs import Arrival, Closing
from collector.assembly.settings import AssemblyLimits
from collector.spool.reader import SpoolReader
from collector.spool.spool import SpoolWriter
from ragvigil.model.evaluation import EVENT
from ragvigil.model.span import Closed, Signal

TRACE = b"t" * 16


def request_of(*spans: tuple[bytes, bytes, int], service: str = "shop") -> bytes:
    """A request with (span id, parent id, start time) spans of one service."""
    request = ExportTraceServiceRequest()
    container = request.resource_spans.add()
    attribute = container.resource.attributes.add()
    attribute.key, attribute.value.string_value = "service.name", service
    scope = container.scope_spans.add()
    scope.scope.name = "tests"
    for span_id, parent, start in spans:
        span = scope.spans.add(
            trace_id=TRACE,
            span_id=span_id,
            parent_span_id=parent,
            name=span_id.decode(),
            start_time_unix_nano=start,
            end_time_unix_nano=start + 5,
        )
        span.attributes.add(key="gen_ai.operation.name").value.string_value = "chat"
    return bytes(request.SerializeToString())


def logs_of(*records: tuple[bytes, str, int]) -> bytes:
    request = ExportLogsServiceRequest()
    scope = request.resource_logs.add().scope_logs.add()
    for span_id, body, time in records:
        record = scope.log_records.add(trace_id=TRACE, span_id=span_id, time_unix_nano=time)
        record.body.string_value = body
    return bytes(request.SerializeToString())


async def put(directory: Path, *frames: tuple[Signal, bytes, int], backfill: str = "") -> None:
    spool = await SpoolWriter.open(directory)
    for signal, payload, items in frames:
        await spool.append(
            payload, signal=signal, items=items, received_unix_nano=77, backfill=backfill
        )
    await spool.close()


def closings_of(directory: Path, fetcher: TraceFetcher) -> list[Closing]:
    assembly = Assembly(AssemblyLimits())
    for frame in SpoolReader(directory).read(0):
        for arrival in fetcher.arrivals(frame):
            assembly.add(arrival, 0.0)
    return assembly.close_all(Closed.SHUTDOWN)


async def test_spans_come_in_order_of_start_with_their_resource(tmp_path: Path) -> None:
    outer = request_of((b"answer00", b"root0000", 30), (b"root0000", b"", 10), service="web")
    inner = request_of((b"search00", b"answer00", 20), service="search")
    await put(tmp_path, (Signal.TRACES, outer, 2), (Signal.TRACES, inner, 1), backfill="run")
    fetcher = TraceFetcher(SpoolReader(tmp_path))
    (closing,) = closings_of(tmp_path, fetcher)
    trace = fetcher.fetch(closing)
    assert [span.name for span in trace.spans] == ["root0000", "search00", "answer00"]
    services = [span.resource.attributes["service.name"] for span in trace.spans]
    assert services == ["web", "search", "web"]
    assert (trace.trace_id, trace.received_unix_nano, trace.backfill) == (TRACE.hex(), 77, "run")
    assert not fetcher.counts.total()


async def test_log_records_are_joined_to_their_span_in_order_of_time(tmp_path: Path) -> None:
    logs = logs_of((b"answer00", "second", 9), (b"answer00", "first", 8), (b"nowhere0", "lost", 1))
    spans = request_of((b"answer00", b"", 30), (b"other000", b"answer00", 31))
    await put(tmp_path, (Signal.LOGS, logs, 3), (Signal.TRACES, spans, 2))
    fetcher = TraceFetcher(SpoolReader(tmp_path))
    (closing,) = closings_of(tmp_path, fetcher)
    answer, other = fetcher.fetch(closing).spans
    assert [record.body for record in answer.logs] == ["first", "second"]
    assert other.logs == ()
    assert +fetcher.counts == {Unfetched.LOG_WITHOUT_SPAN: 1}


async def test_a_small_cache_gives_the_same_trace(tmp_path: Path) -> None:
    frames = [
        (Signal.TRACES, request_of((b"span%04d" % number, b"", number)), 1) for number in range(20)
    ]
    await put(tmp_path, *frames)
    large, small = (TraceFetcher(SpoolReader(tmp_path), cache_bytes=size) for size in (1 << 20, 1))
    (closing,) = closings_of(tmp_path, small)
    assert small.fetch(closing) == large.fetch(closing)
    assert len(small.fetch(closing).spans) == 20


async def test_a_frame_is_held_until_each_of_its_items_is_in_a_trace(tmp_path: Path) -> None:
    spans = request_of((b"answer00", b"", 30), (b"other000", b"answer00", 31))
    logs = logs_of((b"answer00", "one", 9))
    await put(tmp_path, (Signal.TRACES, spans, 2), (Signal.LOGS, logs, 1))
    fetcher = TraceFetcher(SpoolReader(tmp_path))
    (closing,) = closings_of(tmp_path, fetcher)
    first, second = (replace(closing, refs=(ref,), logs=()) for ref in closing.refs)
    held = []
    for part in (first, replace(second, logs=closing.logs)):
        fetcher.fetch(part)
        held.append(fetcher.cached_bytes)
    assert held == [len(spans) + len(logs), 0]
    assert len(fetcher.fetch(closing).spans) == 2  # read again


async def test_a_frame_without_anything_of_use_is_not_held(tmp_path: Path) -> None:
    await put(tmp_path, (Signal.TRACES, request_of((b"short", b"", 1)), 1))
    fetcher = TraceFetcher(SpoolReader(tmp_path))
    assert closings_of(tmp_path, fetcher) == []
    assert fetcher.cached_bytes == 0


async def test_a_frame_that_is_gone_is_counted_and_left_out(tmp_path: Path) -> None:
    await put(tmp_path / "a", (Signal.TRACES, request_of((b"answer00", b"", 1)), 1))
    (closing,) = closings_of(tmp_path / "a", TraceFetcher(SpoolReader(tmp_path / "a")))
    fetcher = TraceFetcher(SpoolReader(tmp_path / "empty"))
    assert fetcher.fetch(closing).spans == ()
    assert +fetcher.counts == {Unfetched.FRAME_GONE: 1}


@pytest.mark.parametrize("signal", list(Signal))
async def test_a_payload_that_can_not_be_parsed_is_counted(tmp_path: Path, signal: Signal) -> None:
    await put(tmp_path, (signal, b"\xff\xff\xff", 3))
    fetcher = TraceFetcher(SpoolReader(tmp_path))
    assert closings_of(tmp_path, fetcher) == []
    assert +fetcher.counts == {Unfetched.UNPARSEABLE: 3}


async def test_what_has_no_usable_id_arrives_nowhere_and_is_counted(tmp_path: Path) -> None:
    spans = request_of((b"short", b"", 1), (b"answer00", b"", 1))
    logs = logs_of((b"", "no span", 1), (bytes(8), "no span", 1))
    await put(tmp_path, (Signal.TRACES, spans, 2), (Signal.LOGS, logs, 2))
    fetcher = TraceFetcher(SpoolReader(tmp_path))
    (closing,) = closings_of(tmp_path, fetcher)
    assert len(closing.refs) == 1
    assert +fetcher.counts == {Unfetched.INVALID_ID: 1, Unfetched.LOG_WITHOUT_SPAN: 2}


async def test_a_parent_of_zeros_is_no_parent(tmp_path: Path) -> None:
    spans = request_of((b"zeros000", bytes(8), 1), (b"child000", b"zeros000", 1))
    await put(tmp_path, (Signal.TRACES, spans, 2))
    (frame,) = SpoolReader(tmp_path).read(0)
    arrivals = TraceFetcher(SpoolReader(tmp_path)).arrivals(frame)
    roots = [arrival.is_root for arrival in arrivals if isinstance(arrival, Arrival)]
    assert roots == [True, False]


async def test_equal_log_records_of_two_requests_are_one(tmp_path: Path) -> None:
    logs = logs_of((b"answer00", "once", 8))
    spans = request_of((b"answer00", b"", 30))
    await put(tmp_path, (Signal.LOGS, logs, 1), (Signal.TRACES, spans, 1), (Signal.LOGS, logs, 1))
    fetcher = TraceFetcher(SpoolReader(tmp_path))
    (closing,) = closings_of(tmp_path, fetcher)
    (span,) = fetcher.fetch(closing).spans
    assert [record.body for record in span.logs] == ["once"]


@pytest.mark.parametrize(
    ("scope", "attribute"), [("ragvigil", ""), ("renamed", "ragvigil.evaluator")]
)
async def test_a_result_of_our_own_that_comes_back_never_reaches_its_trace(
    tmp_path: Path, scope: str, attribute: str
) -> None:
    request = ExportLogsServiceRequest()
    scoped = request.resource_logs.add().scope_logs.add()
    scoped.scope.name = scope
    own = scoped.log_records.add(trace_id=TRACE, span_id=b"answer00", event_name=EVENT)
    if attribute:
        own.attributes.add(key=attribute).value.string_value = "judge"
    other = request.resource_logs.add().scope_logs.add()
    other.log_records.add(trace_id=TRACE, span_id=b"answer00", event_name=EVENT)
    spans = request_of((b"answer00", b"", 30))
    frames = (Signal.LOGS, request.SerializeToString(), 2), (Signal.TRACES, spans, 1)
    await put(tmp_path, *frames)
    before = REGISTRY.get_sample_value("ragvigil_own_results_ignored_total") or 0.0
    fetcher = TraceFetcher(SpoolReader(tmp_path))
    (closing,) = closings_of(tmp_path, fetcher)
    (answer,) = fetcher.fetch(closing).spans
    assert [log.attributes for log in answer.logs] == [{}]
    assert REGISTRY.get_sample_value("ragvigil_own_results_ignored_total") == before + 1
