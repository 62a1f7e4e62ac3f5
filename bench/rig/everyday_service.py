"""A service as it is every day: answers of 20 KB with the spans around them, and other requests.

An answer is nine spans: four of its RAG pipeline (OpenInference's names, the shape of
`otlp_requests`) below the HTTP server's, and beside them a session lookup, a cache, a call of the
provider over HTTP and a message to a queue. With every answer come BESIDE requests that ask no
model: three spans each, of an HTTP server, a database and a queue. Questions, passages and answers
are texts of labelled sets.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from typing import NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans, Span

from bench.rig.otlp_requests import put
from bench.rig.truth_texts import Texts, load_texts

CHUNKS, CHUNK_CHARACTERS = 8, 700
ANSWER_SPANS, BESIDE, BESIDE_SPANS = 9, 4, 3
MILLISECOND = 1_000_000
RESOURCE = {
    "service.name": "everyday",
    "service.version": "2.14.1",
    "service.instance.id": "everyday-7c9f6d5b8-x2vkq",
    "deployment.environment.name": "production",
    "telemetry.sdk.language": "python",
    "telemetry.sdk.version": "1.44.0",
    "k8s.pod.name": "everyday-7c9f6d5b8-x2vkq",
    "k8s.namespace.name": "shop",
}
Values = Mapping[str, str | float]


class _Chunk(NamedTuple):
    name: str
    text: str


def requests(
    answers: int, *, seed: int, small: bool = False, beside: int = BESIDE, a_request: int = 20
) -> list[bytes]:
    """Serialised requests of `a_request` answers each, `beside` other traces with every answer."""
    rng = random.Random(seed)
    texts = load_texts(each=500, small=small)
    pools = {route: _pool(texts, route) for route in texts.corpora}
    bodies = []
    for first in range(0, answers, a_request):
        request = ExportTraceServiceRequest()
        container = request.resource_spans.add()
        put(container.resource.attributes, RESOURCE)
        scoped = container.scope_spans.add()
        scoped.scope.name, scoped.scope.version = "openinference.instrumentation", "0.1.44"
        for _ in range(min(a_request, answers - first)):
            _answer(rng, scoped, texts, pools)
            for _ in range(beside):
                _other(rng, scoped)
        bodies.append(request.SerializeToString())
    return bodies


def _pool(texts: Texts, route: str) -> list[_Chunk]:
    """The route's passages, put together to about CHUNK_CHARACTERS."""
    pool, text = [], ""
    for chunk in texts.corpora[route]:
        text = f"{text} {chunk.text}" if text else chunk.text
        if len(text) >= CHUNK_CHARACTERS:
            pool.append(_Chunk(f"{route[1:]}-{len(pool):05d}", text[: 2 * CHUNK_CHARACTERS]))
            text = ""
    return pool or [_Chunk(f"{route[1:]}-00000", text)]


def _answer(
    rng: random.Random, scoped: ScopeSpans, texts: Texts, pools: Mapping[str, list[_Chunk]]
) -> None:
    asked = rng.choice(texts.questions)
    pool = pools[asked.route]
    # Passages of one subject are read together, and some of them by many questions.
    place = asked.number % len(pool)
    near = [pool[(place + step) % len(pool)] for step in range(CHUNKS // 2)]
    found = near + rng.sample(pool, min(CHUNKS - len(near), len(pool)))
    said = " ".join(sentence.text for sentence in asked.sentences) or "I do not know."
    answer = f"{said} [{found[0].name}]"
    prompt = (
        f"Answer from these passages.\n\n{chr(10).join(one.text for one in found)}\n\n{asked.text}"
    )
    trace, root, chain = rng.randbytes(16), rng.randbytes(8), rng.randbytes(8)
    now = time.time_ns()
    user = f"u-{rng.randrange(5000):05d}"
    spans: tuple[tuple[str, bytes, bytes, int, Values], ...] = (
        ("POST /api/ask", root, b"", Span.SPAN_KIND_SERVER, _http(asked.route, rng)),
        ("SELECT sessions", rng.randbytes(8), root, Span.SPAN_KIND_CLIENT, _sql("sessions")),
        ("GET", rng.randbytes(8), root, Span.SPAN_KIND_CLIENT, _cache(rng)),
        ("ask", chain, root, Span.SPAN_KIND_INTERNAL,
         {"openinference.span.kind": "CHAIN", "input.value": asked.text, "output.value": answer,
          "session.id": f"s-{rng.randrange(2000):05d}", "user.id": user}),
        ("retrieve", rng.randbytes(8), chain, Span.SPAN_KIND_INTERNAL,
         {"openinference.span.kind": "RETRIEVER", "input.value": asked.text,
          **_documents("retrieval.documents", found, rng)}),
        ("rerank", rng.randbytes(8), chain, Span.SPAN_KIND_INTERNAL,
         {"openinference.span.kind": "RERANKER", "reranker.query": asked.text,
          "reranker.model_name": "sorter-1",
          **_documents("reranker.output_documents", found, rng)}),
        ("chat", rng.randbytes(8), chain, Span.SPAN_KIND_INTERNAL, _model(prompt, answer)),
        ("POST", rng.randbytes(8), chain, Span.SPAN_KIND_CLIENT, _provider(rng)),
        ("answers publish", rng.randbytes(8), root, Span.SPAN_KIND_PRODUCER, _queue(rng)),
    )  # fmt: skip
    for number, (name, span_id, parent, kind, attributes) in enumerate(spans):
        _add(scoped, rng, trace, (name, span_id, parent, kind), attributes, now, number)


def _other(rng: random.Random, scoped: ScopeSpans) -> None:
    trace, root, now = rng.randbytes(16), rng.randbytes(8), time.time_ns()
    route = rng.choice(["/cart", "/orders/{id}", "/health", "/profile", "/search"])
    _add(
        scoped,
        rng,
        trace,
        (f"GET {route}", root, b"", Span.SPAN_KIND_SERVER),
        _http(route, rng),
        now,
        0,
    )
    kinds: tuple[tuple[str, int, Values], ...] = (
        ("SELECT orders", Span.SPAN_KIND_CLIENT, _sql("orders")),
        ("orders publish", Span.SPAN_KIND_PRODUCER, _queue(rng)),
    )
    for number, (name, kind, attributes) in enumerate(kinds, 1):
        _add(scoped, rng, trace, (name, rng.randbytes(8), root, kind), attributes, now, number)


def _add(
    scoped: ScopeSpans,
    rng: random.Random,
    trace: bytes,
    head: tuple[str, bytes, bytes, int],
    attributes: Values,
    now: int,
    number: int,
) -> None:
    name, span_id, parent, kind = head
    begin = now + number * rng.randrange(4, 8) * MILLISECOND
    span = scoped.spans.add(trace_id=trace, span_id=span_id, parent_span_id=parent, name=name)
    span.kind = kind  # type: ignore[assignment]
    span.start_time_unix_nano = begin
    span.end_time_unix_nano = begin + rng.randrange(1, 900) * MILLISECOND
    put(span.attributes, attributes)


def _http(route: str, rng: random.Random) -> Values:
    return {
        "http.request.method": "POST" if route.startswith("/api") else "GET",
        "http.route": route,
        "url.path": f"{route}/{rng.randrange(10**6)}",
        "url.scheme": "https",
        "server.address": "shop.example",
        "client.address": f"10.2.{rng.randrange(256)}.{rng.randrange(256)}",
        "user_agent.original": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/141.0",
        "http.response.status_code": 200.0,
    }


def _sql(table: str) -> Values:
    return {
        "db.system.name": "postgresql",
        "db.namespace": "shop",
        "db.collection.name": table,
        "db.operation.name": "SELECT",
        "db.query.text": f"SELECT id, state, created, updated FROM {table} WHERE id = $1 LIMIT 1",
        "server.address": "pg-0.shop.svc",
        "server.port": 5432.0,
    }


def _cache(rng: random.Random) -> Values:
    return {
        "db.system.name": "redis",
        "db.operation.name": "GET",
        "db.query.text": f"GET answers:{rng.randrange(10**9):x}",
        "server.address": "redis.shop.svc",
    }


def _provider(rng: random.Random) -> Values:
    return {
        "http.request.method": "POST",
        "url.full": "https://models.example/v1/chat/completions",
        "server.address": "models.example",
        "http.response.status_code": 200.0,
        "http.response.body.size": float(rng.randrange(900, 4000)),
    }


def _queue(rng: random.Random) -> Values:
    return {
        "messaging.system": "kafka",
        "messaging.destination.name": "events",
        "messaging.operation.name": "publish",
        "messaging.message.id": f"{rng.getrandbits(64):016x}",
        "messaging.kafka.offset": float(rng.randrange(10**7)),
    }


def _model(prompt: str, answer: str) -> Values:
    return {
        "openinference.span.kind": "LLM",
        "llm.model_name": "large-2026-05",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": prompt,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": answer,
        "llm.token_count.prompt": float(len(prompt) // 4),
        "llm.token_count.completion": float(len(answer) // 4),
        "output.value": answer,
    }


def _documents(prefix: str, found: list[_Chunk], rng: random.Random) -> dict[str, str | float]:
    flat: dict[str, str | float] = {}
    for place, chunk in enumerate(found):
        key = f"{prefix}.{place}.document."
        flat |= {f"{key}id": chunk.name, f"{key}content": chunk.text}
        flat[f"{key}score"] = round(rng.uniform(0.4, 0.95), 4)
    return flat
