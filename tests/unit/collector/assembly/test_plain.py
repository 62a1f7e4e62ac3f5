"""Spans of no record: which they are, and that their rows are those of the whole way."""

from __future__ import annotations

from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtoSpan

from collector.assembly.plain import kept_ids, may_matter, plain_spans, relevance
from collector.claims.registry import registered
from collector.claims.relevance import COMMON, READERS_OF_COMMON
from collector.decode.spans import decode_spans, iterate
from collector.record.build import records
from collector.record.feedback import feedback_of
from ragvigil.model.span import Closed, Span, Trace
from ragvigil.store.records.span_rows import span_rows
from ragvigil.store.records.texts import Shortener
from ragvigil.store.settings import KeptSpans

CAPTURES = sorted((Path(__file__).parents[3] / "golden" / "otlp").rglob("*.pb"))
PLAIN = {
    "http": {"http.request.method": "GET", "url.path": "/health", "error.type": "500"},
    "postgres": {"db.system.name": "postgresql", "db.query.text": "SELECT 1 FROM orders"},
    "queue": {"messaging.system": "kafka", "messaging.operation.name": "poll"},
    "bare": {},
}
TELLING = {
    "model": {"gen_ai.operation.name": "chat"},
    "search": {"db.system": "qdrant", "db.operation": "search"},
    "pgvector": {"db.system": "postgresql", "db.statement": "SELECT a FROM b ORDER BY c <=> d"},
    "top_k": {"db.system": "redis", "db.vector.query.top_k": "5"},
    "feedback": {"annotations.0.annotation.name": "thumbs"},
    "evaluation": {"http.request.header.x-ragvigil-golden": "case"},
}


def proto(attributes: dict[str, str], span_id: bytes = b"12345678", **more: object) -> ProtoSpan:
    span = ProtoSpan(trace_id=b"1234567890123456", span_id=span_id, name="GET /x", **more)  # type: ignore[arg-type]
    for key, value in attributes.items():
        span.attributes.add(key=key).value.string_value = value
    return span


def request_of(*spans: ProtoSpan) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    container = request.resource_spans.add()
    container.resource.attributes.add(key="service.name").value.string_value = "shop"
    scoped = container.scope_spans.add()
    scoped.scope.name, scoped.scope.version = "asgi", "1"
    scoped.spans.extend(spans)
    return request


def trace_of(spans: list[Span], **more: object) -> Trace:
    return Trace(
        trace_id="a",
        spans=tuple(spans),
        closed=Closed.ROOT_ENDED,
        received_unix_nano=7 * 10**9,
        **more,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("attributes", PLAIN.values(), ids=PLAIN)
def test_what_a_service_does_beside_answers_says_nothing(attributes: dict[str, str]) -> None:
    assert not may_matter(proto(attributes))


@pytest.mark.parametrize("attributes", TELLING.values(), ids=TELLING)
def test_what_a_convention_or_feedback_may_need_counts(attributes: dict[str, str]) -> None:
    assert may_matter(proto({**PLAIN["http"], **attributes}))


def test_an_event_counts_as_an_attribute_does() -> None:
    span = proto(PLAIN["http"])
    span.events.add(name="gen_ai.evaluation.result")
    assert may_matter(span)


def test_no_captured_record_or_feedback_comes_from_spans_that_say_nothing() -> None:
    """A trace is left alone only if all of its spans say nothing."""
    traces = 0
    for path in CAPTURES:
        request = ExportTraceServiceRequest.FromString(path.read_bytes())
        by_trace: dict[str, list[Span]] = {}
        for span in decode_spans(request):
            by_trace.setdefault(span.trace_id, []).append(span)
        telling = {item.trace_id.hex() for _, _, item in iterate(request) if may_matter(item)}
        for trace_id, spans in by_trace.items():
            trace = trace_of(spans)
            if records(trace) or feedback_of(trace):
                traces += 1
                assert trace_id in telling, path.name
    assert traces > 20


def test_protobuf_and_values_are_judged_alike() -> None:
    compared = {True: 0, False: 0}
    for path in CAPTURES:
        request = ExportTraceServiceRequest.FromString(path.read_bytes())
        items = [item for _, _, item in iterate(request)]
        for item, span in zip(items, decode_spans(request), strict=True):
            assert may_matter(item) == relevance().of_span(span), (path.name, span.name)
            compared[may_matter(item)] += 1
    assert min(compared.values()) > 20


def test_the_rows_are_those_of_the_whole_way() -> None:
    plain = proto(
        {
            **PLAIN["http"],
            "note": "a ⟦doc mark, and a text that is far longer than sixty-four characters",
        },
        kind=ProtoSpan.SPAN_KIND_SERVER,
        start_time_unix_nano=5,
        end_time_unix_nano=9,
        parent_span_id=bytes(8),
        trace_state="a=b",
        dropped_attributes_count=3,
    )
    plain.attributes.add(key="bytes").value.bytes_value = b"\0\1"
    plain.attributes.add(key="share").value.double_value = 0.5
    loud = proto(PLAIN["queue"], b"23456789", start_time_unix_nano=8, parent_span_id=b"12345678")
    loud.events.add(name="exception").attributes.add(key="k").value.int_value = 4
    loud.links.add(trace_id=b"1234567890123456", span_id=b"87654321")
    loud.status.code, loud.status.message = 2, "broken"
    request = request_of(plain, loud)
    writer = ("replica", 3)
    whole, size = span_rows(trace_of(decode_spans(request)), Shortener(()), writer, generation=2)
    made = plain_spans(list(iterate(request)), KeptSpans.ALL)
    rows, plain_size = span_rows(trace_of([], plain=made), Shortener(()), writer, generation=2)
    assert rows == whole
    assert plain_size == size
    assert (made.count, made.ended_unix_nano, made.service) == (2, 9, "shop")


def test_only_their_number_is_left_where_they_are_not_kept() -> None:
    items = list(iterate(request_of(proto(PLAIN["http"], end_time_unix_nano=9))))
    for keeps in (KeptSpans.RAG, KeptSpans.NONE):
        assert plain_spans(items, keeps).rows == ()
        assert plain_spans(items, keeps).count == 1


def test_rag_keeps_what_is_read_and_what_is_above() -> None:
    spans = decode_spans(
        request_of(
            proto(PLAIN["http"], b"server00"),
            proto(PLAIN["bare"], b"handler0", parent_span_id=b"server00"),
            proto(TELLING["model"], b"model000", parent_span_id=b"handler0"),
            proto(PLAIN["http"], b"client00", parent_span_id=b"model000"),
            proto(PLAIN["postgres"], b"database", parent_span_id=b"server00"),
        )
    )
    kept = kept_ids(spans, KeptSpans.RAG)
    assert kept is not None
    names = {bytes.fromhex(span_id).decode() for span_id in kept}
    assert names == {"server00", "handler0", "model000"}
    assert kept_ids(spans, KeptSpans.ALL) is None
    assert kept_ids(spans, KeptSpans.NONE) == frozenset()


def test_spans_above_one_another_end() -> None:
    spans = decode_spans(
        request_of(
            proto(TELLING["model"], b"model000", parent_span_id=b"other000"),
            proto(PLAIN["http"], b"other000", parent_span_id=b"model000"),
        )
    )
    assert len(kept_ids(spans, KeptSpans.RAG) or ()) == 2


def test_the_conventions_that_read_common_roots_are_known() -> None:
    """One that is added must be looked at: does it make more of `db` or `error` than a search?"""
    readers = {entry.name for entry in registered() if entry.roots & COMMON}
    assert readers == READERS_OF_COMMON
