"""What the OTLP specification demands of a server, over gRPC, HTTP with protobuf and with JSON."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from google.rpc.error_details_pb2 import BadRequest, RetryInfo

from collector.settings import CollectorSettings, LimitSettings
from collector.spool.directory import SpoolError, SpoolFull
from ragvigil.model.span import Signal
from tests.otlp import (
    TRANSPORTS,
    Answer,
    Listening,
    encode,
    listening,
    log_request,
    spans_of,
    trace_request,
    with_broken_text,
)

SUCCESS = {"grpc": "OK", "protobuf": 200, "json": 200}
every_transport = pytest.mark.parametrize("transport", TRANSPORTS)


@pytest_asyncio.fixture
async def server() -> AsyncIterator[Listening]:
    async with listening() as running:
        yield running


@pytest_asyncio.fixture
async def small_server() -> AsyncIterator[Listening]:
    limits = LimitSettings(max_body_bytes=2048, max_items=3)
    async with listening(CollectorSettings(limits=limits)) as running:
        yield running


@pytest_asyncio.fixture
async def guarded_server() -> AsyncIterator[Listening]:
    tokens = {"grpc_token": "sesame", "http_token": "sesame", "admin_token": "root"}
    async with listening(CollectorSettings.model_validate(tokens)) as running:
        yield running


def details(answer: Answer, kind: type) -> list[object]:
    """The details of one type within a status, of JSON as they are."""
    if isinstance(answer.status, dict):
        return [d for d in answer.status["details"] if d["@type"].endswith(kind.__name__)]
    return [d for d in answer.status.details if d.Is(kind.DESCRIPTOR)]


@every_transport
async def test_a_request_is_acknowledged_and_lies_in_the_spool(
    server: Listening, transport: str
) -> None:
    request = trace_request(3, question="where is my parcel?")
    answer = await server.send(request, transport)
    assert answer.code == SUCCESS[transport]
    assert answer.body == {}
    assert server.spool.requests() == [request]
    assert server.spool.kept[0]["items"] == 3
    assert server.spool.kept[0]["signal"] is Signal.TRACES


@every_transport
async def test_log_records_are_taken_like_spans(server: Listening, transport: str) -> None:
    answer = await server.send(log_request(2), transport, signal="logs")
    assert (answer.code, answer.body) == (SUCCESS[transport], {})
    assert server.spool.requests() == [log_request(2)]
    assert server.spool.kept[0]["signal"] is Signal.LOGS


@every_transport
async def test_metrics_are_acknowledged_and_ignored(server: Listening, transport: str) -> None:
    body = b'{"resourceMetrics": []}' if transport == "json" else b""
    answer = await server.send(body, transport, signal="metrics")
    assert answer.code == SUCCESS[transport]
    assert server.spool.kept == []


@every_transport
@pytest.mark.parametrize("signal", ["traces", "logs"])
async def test_an_empty_request_is_a_success(
    server: Listening, transport: str, signal: str
) -> None:
    body = b"{}" if transport == "json" else b""
    answer = await server.send(body, transport, signal=signal)
    assert (answer.code, answer.body) == (SUCCESS[transport], {})
    assert server.spool.kept == []


@every_transport
async def test_the_same_request_sent_again_is_taken_again(
    server: Listening, transport: str
) -> None:
    for _ in range(2):
        assert (await server.send(trace_request(), transport)).code == SUCCESS[transport]
    assert len(server.spool.kept) == 2


@every_transport
@pytest.mark.parametrize(
    ("trace_id", "span_id"),
    [(bytes(16), b"12345678"), (b"short", b"12345678"), (b"1" * 16, bytes(8)), (b"1" * 16, b"")],
    ids=["zero trace id", "short trace id", "zero span id", "no span id"],
)
async def test_a_span_with_an_invalid_id_is_rejected_alone(
    server: Listening, transport: str, trace_id: bytes, span_id: bytes
) -> None:
    request = trace_request(3)
    wrong = spans_of(request)[1]
    wrong.trace_id, wrong.span_id = trace_id, span_id
    answer = await server.send(request, transport)
    assert answer.code == SUCCESS[transport]
    assert answer.rejected == 1
    assert "id" in answer.message
    assert [span.span_id[-1] for span in spans_of(server.spool.requests()[0])] == [1, 3]


@every_transport
@pytest.mark.parametrize("signal", ["traces", "logs"])
async def test_text_that_is_not_utf8_costs_its_item_and_no_other(
    server: Listening, transport: str, signal: str
) -> None:
    request = trace_request(4) if signal == "traces" else log_request(4)
    item = spans_of(request)[2]
    item.attributes.add(key="prompt").value.string_value = "BROKEN"
    raw = encode(request, transport).replace(b"BROKEN", b"\xff\xfe\xfd\xfc\xfb\xfa")
    answer = await server.send(raw, transport, signal=signal)
    assert answer.code == SUCCESS[transport]
    assert answer.rejected == 1
    assert "UTF-8" in answer.message
    assert [i.span_id[-1] for i in spans_of(server.spool.requests()[0])] == [1, 2, 4]


async def test_a_broken_attribute_of_a_resource_costs_no_span(server: Listening) -> None:
    request = trace_request(2)
    request.resource_spans[0].resource.attributes.add(key="host").value.string_value = "BROKEN"
    answer = await server.send(with_broken_text(request), "protobuf")
    assert (answer.code, answer.body) == (200, {})
    kept = server.spool.requests()[0]
    assert len(spans_of(kept)) == 2
    assert [a.key for a in kept.resource_spans[0].resource.attributes] == ["service.name"]


@every_transport
async def test_malformed_bodies_are_bad_requests(server: Listening, transport: str) -> None:
    answer = await server.send(b"\xff\xffnonsense{", transport)
    assert answer.code == ("INVALID_ARGUMENT" if transport == "grpc" else 400)
    assert len(details(answer, BadRequest)) == 1
    assert server.spool.kept == []


@every_transport
async def test_a_body_beyond_the_limit_is_refused_for_good(
    small_server: Listening, transport: str
) -> None:
    answer = await small_server.send(trace_request(1, text="x" * 5000), transport)
    assert answer.code == ("RESOURCE_EXHAUSTED" if transport == "grpc" else 413)
    assert "google.rpc.retryinfo-bin" not in answer.trailers
    assert "retry-after" not in answer.trailers
    assert small_server.spool.kept == []


@every_transport
async def test_too_many_spans_are_refused_for_good(small_server: Listening, transport: str) -> None:
    answer = await small_server.send(trace_request(4), transport)
    assert answer.code == ("RESOURCE_EXHAUSTED" if transport == "grpc" else 413)
    assert details(answer, RetryInfo) == []


def assert_come_back(answer: Answer, transport: str) -> None:
    """503 with Retry-After, or UNAVAILABLE with RetryInfo in both trailers."""
    assert answer.code == ("UNAVAILABLE" if transport == "grpc" else 503)
    assert len(details(answer, RetryInfo)) == 1
    if transport == "grpc":
        delay = RetryInfo.FromString(answer.trailers["google.rpc.retryinfo-bin"])
        assert 1 <= delay.retry_delay.seconds <= 5
    else:
        assert 1 <= int(answer.trailers["retry-after"]) <= 5


@every_transport
async def test_overload_asks_to_come_back(server: Listening, transport: str) -> None:
    with server.gate.budget.hold(server.gate.limits.max_in_flight_bytes):
        assert_come_back(await server.send(trace_request(), transport), transport)
    assert (await server.send(trace_request(), transport)).code == SUCCESS[transport]
    assert server.gate.budget.used == 0


@every_transport
@pytest.mark.parametrize("failure", [SpoolFull("full"), SpoolError("broken")], ids=["full", "bad"])
async def test_a_spool_that_takes_nothing_asks_to_come_back(
    server: Listening, transport: str, failure: Exception
) -> None:
    server.spool.failure = failure
    assert_come_back(await server.send(trace_request(), transport), transport)
    server.spool.failure = None
    assert (await server.send(trace_request(), transport)).code == SUCCESS[transport]


@every_transport
async def test_a_stopping_server_asks_to_come_back(server: Listening, transport: str) -> None:
    server.gate.close()
    assert_come_back(await server.send(trace_request(), transport), transport)


@pytest.mark.parametrize("transport", ["protobuf", "json"])
async def test_gzip_is_taken(server: Listening, transport: str) -> None:
    packed = gzip.compress(encode(trace_request(2), transport))
    answer = await server.send(packed, transport, headers={"content-encoding": "gzip"})
    assert answer.code == 200
    assert server.spool.requests() == [trace_request(2)]


@every_transport
@pytest.mark.parametrize("authorization", ["", "Bearer wrong", "Basic c2VzYW1l", "sesame"])
async def test_without_the_token_nothing_is_taken(
    guarded_server: Listening, transport: str, authorization: str
) -> None:
    headers = {"authorization": authorization} if authorization else {}
    answer = await guarded_server.send(trace_request(), transport, headers=headers)
    assert answer.code == ("UNAUTHENTICATED" if transport == "grpc" else 401)
    assert answer.status is not None
    assert guarded_server.spool.kept == []


@every_transport
@pytest.mark.parametrize(
    "authorization", ["Bearer sesame", "bearer sesame", "Basic dXNlcjpzZXNhbWU=", "Bearer root"]
)
async def test_with_the_token_spans_are_taken(
    guarded_server: Listening, transport: str, authorization: str
) -> None:
    headers = {"authorization": authorization}
    answer = await guarded_server.send(trace_request(), transport, headers=headers)
    assert answer.code == SUCCESS[transport]


@every_transport
async def test_a_declared_backfill_reaches_the_spool(server: Listening, transport: str) -> None:
    headers = {"x-ragvigil-backfill": "history-1"}
    assert (await server.send(trace_request(), transport, headers=headers)).code == SUCCESS[
        transport
    ]
    assert server.spool.kept[0]["backfill"] == "history-1"


@every_transport
async def test_a_backfill_needs_the_admin_where_there_are_tokens(
    guarded_server: Listening, transport: str
) -> None:
    backfill = {"x-ragvigil-backfill": "history-1"}
    sender = {**backfill, "authorization": "Bearer sesame"}
    answer = await guarded_server.send(trace_request(), transport, headers=sender)
    assert answer.code == ("PERMISSION_DENIED" if transport == "grpc" else 403)
    admin = {**backfill, "authorization": "Bearer root"}
    answer = await guarded_server.send(trace_request(), transport, headers=admin)
    assert answer.code == SUCCESS[transport]
    assert [kept["backfill"] for kept in guarded_server.spool.kept] == ["history-1"]
