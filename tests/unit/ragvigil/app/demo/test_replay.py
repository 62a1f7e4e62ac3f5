"""Sending bodies to a real HTTP receiver that is at times busy, picky or away."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from ragvigil.app.demo.recording import JSON, PROTOBUF, Kind, RecordedRequest
from ragvigil.app.demo.replay import (
    GaveUp,
    OutgoingRequest,
    SendOptions,
    Tally,
    prepare,
    send_all,
    shift_to_end,
)
from ragvigil.app.demo.rewrite import Change


class Receiver(ThreadingHTTPServer):
    """Answers what its script says, 200 with an empty body afterwards, and keeps what came."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script: list[tuple[int, dict[str, str], bytes]] = []
        self.received: list[tuple[str, dict[str, str], bytes]] = []
        self.connections: set[Any] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {key.lower(): value for key, value in self.headers.items()}
        self.server.received.append((self.path, headers, body))
        self.server.connections.add(self.client_address)
        plain = (200, {"content-type": PROTOBUF}, b"")
        status, extra, answer = self.server.script.pop(0) if self.server.script else plain
        self.send_response(status)
        for key, value in extra.items():
            self.send_header(key, value)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        del format, args


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


class FakeSleep:
    """Remembers what was asked of it and takes no time."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    async def __call__(self, seconds: float) -> None:
        if seconds > 0:
            self.asked.append(seconds)
        await asyncio.sleep(0)


def bodies(count: int, *, spans: int = 1) -> list[OutgoingRequest]:
    return [
        OutgoingRequest(body=_body(number), path="/v1/traces", content_type=PROTOBUF, items=spans)
        for number in range(count)
    ]


def _body(number: int) -> bytes:
    request = ExportTraceServiceRequest()
    request.resource_spans.add().scope_spans.add().spans.add(
        trace_id=number.to_bytes(16), span_id=b"spanspan", end_time_unix_nano=1000 + number
    )
    return request.SerializeToString()


def recorded(number: int, received: int) -> RecordedRequest:
    return RecordedRequest(
        name=f"requests/{number:04}.pb",
        body=_body(number),
        kind=Kind.TRACES,
        path="/v1/traces",
        content_type=PROTOBUF,
        received_unix_nano=received,
    )


async def test_bodies_arrive_in_order_over_one_connection_and_say_they_are_a_backfill(
    receiver: Receiver,
) -> None:
    sending = SendOptions(target=receiver.url, backfill="demo")
    seen: list[int] = []
    summary = await send_all(
        bodies(20), sending, Tally(), progress=lambda outgoing: seen.append(outgoing.items)
    )
    assert [body for _, _, body in receiver.received] == [_body(n) for n in range(20)]
    assert {headers["x-ragvigil-backfill"] for _, headers, _ in receiver.received} == {"demo"}
    assert len(receiver.connections) == 1
    assert (summary.requests, summary.items, len(seen)) == (20, 20, 20)


async def test_several_at_a_time_still_send_everything_once(receiver: Receiver) -> None:
    summary = await send_all(bodies(30), SendOptions(target=receiver.url, concurrency=4), Tally())
    assert sorted(body for _, _, body in receiver.received) == sorted(map(_body, range(30)))
    assert len(receiver.connections) <= 4
    assert summary.requests == 30


async def test_a_busy_receiver_is_asked_again_after_the_time_that_it_named(
    receiver: Receiver,
) -> None:
    receiver.script = [(503, {"retry-after": "7"}, b""), (429, {}, b"")]
    sleep = FakeSleep()
    summary = await send_all(bodies(1), SendOptions(target=receiver.url), Tally(), sleep=sleep)
    assert sleep.asked == [7.0, 0.5]
    assert (summary.requests, summary.retries) == (1, 2)


async def test_a_receiver_that_stays_busy_is_given_up(receiver: Receiver) -> None:
    receiver.script = [(503, {"retry-after": "25"}, b"")] * 9
    with pytest.raises(GaveUp, match="answers 503"):
        await send_all(bodies(1), SendOptions(target=receiver.url), Tally(), sleep=FakeSleep())


async def test_a_receiver_that_is_away_is_told_of_once_while_it_is_tried_again() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        told: list[str] = []
        with pytest.raises(GaveUp):
            await send_all(
                bodies(1), SendOptions(target=url), Tally(), sleep=FakeSleep(), tell=told.append
            )
    (line,) = told
    assert line.startswith(f"{url}: nothing answers (")
    assert line.endswith("); trying again for 60 s")


async def test_nobody_there_is_said_in_one_line() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        sending = SendOptions(target=f"http://127.0.0.1:{free.getsockname()[1]}")
        with pytest.raises(GaveUp, match="nothing answers"):
            await send_all(bodies(1), sending, Tally(), sleep=FakeSleep())


async def test_a_refusal_is_counted_and_not_repeated(receiver: Receiver) -> None:
    receiver.script = [(400, {}, b"not OTLP")]
    summary = await send_all(bodies(2), SendOptions(target=receiver.url), Tally())
    assert len(receiver.received) == 2
    assert (summary.refused_requests, summary.items) == (1, 1)
    assert summary.messages == ("400 not OTLP",)


@pytest.mark.parametrize("form", [PROTOBUF, JSON])
async def test_a_partial_success_is_counted_with_its_message(receiver: Receiver, form: str) -> None:
    said = ExportTraceServiceResponse()
    said.partial_success.rejected_spans = 2
    said.partial_success.error_message = "two were bad"
    in_json = b'{"partialSuccess": {"rejectedSpans": "2", "errorMessage": "two were bad"}}'
    body = in_json if form == JSON else said.SerializeToString()
    receiver.script = [(200, {"content-type": form}, body)]
    summary = await send_all(bodies(1, spans=5), SendOptions(target=receiver.url), Tally())
    assert (summary.items, summary.rejected_items) == (3, 2)
    assert summary.messages == ("two were bad",)


async def test_the_recorded_pace_is_kept(receiver: Receiver) -> None:
    recording = [recorded(0, 10 * 10**9), recorded(1, 13 * 10**9), recorded(2, 18 * 10**9)]
    sleep = FakeSleep()
    outgoing = prepare(recording, Change(), None, Tally())
    await send_all(
        outgoing, SendOptions(target=receiver.url), Tally(), sleep=sleep, clock=lambda: 0.0
    )
    assert sleep.asked == [3.0, 8.0]


def test_a_rate_counts_requests_a_second() -> None:
    recording = [recorded(n, n) for n in range(4)]
    assert [o.due_seconds for o in prepare(recording, Change(), 2, Tally())] == [0, 0.5, 1, 1.5]
    assert {o.due_seconds for o in prepare(recording, Change(), 0, Tally())} == {0.0}


def test_the_last_time_of_a_shifted_recording_is_exactly_the_wanted_one() -> None:
    recording = [recorded(n, n) for n in range(4)]
    shift = shift_to_end(recording, 5_000_000)
    (last,) = [*prepare(recording, Change(shift_nanos=shift), 0, Tally())][-1:]
    request = ExportTraceServiceRequest.FromString(last.body)
    assert request.resource_spans[0].scope_spans[0].spans[0].end_time_unix_nano == 5_000_000


def test_what_cannot_be_read_is_sent_as_it_is_or_left_out_where_it_had_to_change() -> None:
    broken = RecordedRequest(
        name="requests/0001.pb",
        body=b"\xff",
        kind=Kind.TRACES,
        path="/v1/traces",
        content_type=PROTOBUF,
        received_unix_nano=0,
    )
    assert [o.body for o in prepare([broken], Change(), 0, Tally())] == [b"\xff"]
    tally = Tally()
    assert list(prepare([broken], Change(shift_nanos=1), 0, tally)) == []
    assert tally.summary(0).unreadable_requests == 1
