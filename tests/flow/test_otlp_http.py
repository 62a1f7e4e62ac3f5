"""OTLP/HTTP alone: paths, media types, codings, and answers in the request's own encoding."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import AsyncIterator

import httpx2
import pytest
import pytest_asyncio
from google.rpc.status_pb2 import Status

from collector.settings import CollectorSettings, LimitSettings
from tests.otlp import Listening, encode, listening, trace_request
from tests.patience import PATIENCE_SECONDS

PROTOBUF, JSON = "application/x-protobuf", "application/json"


@pytest_asyncio.fixture
async def server() -> AsyncIterator[Listening]:
    limits = LimitSettings(max_body_bytes=1 << 20)
    async with listening(CollectorSettings(limits=limits)) as running:
        yield running


@pytest_asyncio.fixture
async def client(server: Listening) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=server.http, timeout=PATIENCE_SECONDS) as opened:
        yield opened


BODY = trace_request(2).SerializeToString()


@pytest.mark.parametrize("prefix", ["", "/api/public/otel", "/tracer"])
@pytest.mark.parametrize("signal", ["traces", "logs", "metrics"])
async def test_every_known_path_takes_its_signal(
    client: httpx2.AsyncClient, prefix: str, signal: str
) -> None:
    reply = await client.post(
        f"{prefix}/v1/{signal}", content=b"", headers={"content-type": PROTOBUF}
    )
    assert (reply.status_code, reply.content) == (200, b"")


@pytest.mark.parametrize(
    "media", [f"{JSON}; charset=utf-8", "Application/JSON;charset=UTF-8", JSON]
)
async def test_parameters_and_case_of_a_media_type_do_not_matter(
    server: Listening, client: httpx2.AsyncClient, media: str
) -> None:
    body = encode(trace_request(2), "json")
    reply = await client.post("/v1/traces", content=body, headers={"content-type": media})
    assert (reply.status_code, reply.headers["content-type"]) == (200, JSON)
    assert server.spool.requests() == [trace_request(2)]


@pytest.mark.parametrize("media", ["text/plain", "application/xml", ""])
async def test_other_media_types_are_refused_with_a_status(
    client: httpx2.AsyncClient, media: str
) -> None:
    headers = {"content-type": media} if media else {}
    reply = await client.post("/v1/traces", content=BODY, headers=headers)
    assert reply.status_code == 415
    assert "content-type" in reply.json()["message"]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_other_methods_are_refused(client: httpx2.AsyncClient, method: str) -> None:
    reply = await client.request(method, "/v1/traces", headers={"content-type": PROTOBUF})
    assert (reply.status_code, reply.headers["allow"]) == (405, "POST")
    assert "POST" in Status.FromString(reply.content).message


@pytest.mark.parametrize("path", ["/", "/v1/profiles", "/v2/traces", "/v1/traces/x"])
async def test_other_paths_are_not_found(client: httpx2.AsyncClient, path: str) -> None:
    reply = await client.post(path, content=BODY, headers={"content-type": JSON})
    assert reply.status_code == 404
    assert reply.json()["code"] == 5


CODINGS = {
    "gzip": gzip.compress(BODY),
    "x-gzip": gzip.compress(BODY),
    "deflate": zlib.compress(BODY),
    "identity": BODY,
    "GZIP": gzip.compress(BODY[:20]) + gzip.compress(BODY[20:]),
}


@pytest.mark.parametrize("coding", CODINGS)
async def test_content_codings_are_undone(
    server: Listening, client: httpx2.AsyncClient, coding: str
) -> None:
    headers = {"content-type": PROTOBUF, "content-encoding": coding}
    reply = await client.post("/v1/traces", content=CODINGS[coding], headers=headers)
    assert reply.status_code == 200
    assert server.spool.requests() == [trace_request(2)]


async def test_a_bare_deflate_stream_is_taken(
    server: Listening, client: httpx2.AsyncClient
) -> None:
    stream = zlib.compressobj(wbits=-15)
    headers = {"content-type": PROTOBUF, "content-encoding": "deflate"}
    body = stream.compress(BODY) + stream.flush()
    assert (await client.post("/v1/traces", content=body, headers=headers)).status_code == 200
    assert server.spool.requests() == [trace_request(2)]


@pytest.mark.parametrize(
    "body", [b"nonsense", gzip.compress(BODY)[:-12], b"\x1f\x8b"], ids=["none", "cut", "head"]
)
async def test_a_broken_gzip_stream_is_a_bad_request(
    client: httpx2.AsyncClient, body: bytes
) -> None:
    headers = {"content-type": PROTOBUF, "content-encoding": "gzip"}
    reply = await client.post("/v1/traces", content=body, headers=headers)
    assert reply.status_code == 400
    assert Status.FromString(reply.content).code == 3


async def test_an_unknown_coding_is_refused(client: httpx2.AsyncClient) -> None:
    headers = {"content-type": PROTOBUF, "content-encoding": "br"}
    assert (await client.post("/v1/traces", content=BODY, headers=headers)).status_code == 415


async def test_a_gzip_bomb_is_refused_before_it_is_inflated(
    server: Listening, client: httpx2.AsyncClient
) -> None:
    bomb = gzip.compress(bytes(200 << 20), 9)
    headers = {"content-type": PROTOBUF, "content-encoding": "gzip"}
    reply = await client.post("/v1/traces", content=bomb, headers=headers)
    assert reply.status_code == 413
    assert server.gate.budget.used == 0


async def test_a_body_without_length_is_stopped_at_the_limit(
    server: Listening, client: httpx2.AsyncClient
) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(64):
            yield bytes(64 << 10)

    reply = await client.post("/v1/traces", content=endless(), headers={"content-type": PROTOBUF})
    assert reply.status_code == 413
    assert server.gate.budget.used == 0


async def test_one_connection_carries_many_requests(
    server: Listening, client: httpx2.AsyncClient
) -> None:
    for _ in range(5):
        reply = await client.post("/v1/traces", content=BODY, headers={"content-type": PROTOBUF})
        assert reply.status_code == 200
    assert len(server.spool.kept) == 5


async def test_a_client_that_hangs_up_leaves_nothing_behind(server: Listening) -> None:
    host, port = server.http.removeprefix("http://").split(":")
    _, writer = await asyncio.open_connection(host, int(port))
    head = f"POST /v1/traces HTTP/1.1\r\nhost: localhost\r\ncontent-type: {PROTOBUF}\r\n"
    writer.write(f"{head}content-length: 1000\r\n\r\nabc".encode())
    await writer.drain()
    while not server.gate.budget.used:
        await asyncio.sleep(0.01)
    writer.close()
    while server.gate.budget.used:
        await asyncio.sleep(0.01)
    assert server.spool.kept == []


async def test_rejected_spans_are_counted_as_text_in_json(
    server: Listening, client: httpx2.AsyncClient
) -> None:
    document = json.loads(encode(trace_request(2), "json"))
    document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"] = "nothex"
    reply = await client.post("/v1/traces", json=document)
    assert reply.json()["partialSuccess"]["rejectedSpans"] == "1"
    assert server.spool.kept[0]["items"] == 1
