"""Synthetic RAG traces as OTLP requests: CHAIN > RETRIEVER, RERANKER, LLM, about 20 KB each.

The same shape as common instrumentors send; words are random, one answer in ten quotes what no
chunk says.
"""

from __future__ import annotations

import functools
import random
import string
import time
from collections.abc import Mapping

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans, Span

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
SPANS_A_TRACE = 4
TRACES_A_REQUEST = 25
SPANS = SPANS_A_TRACE * TRACES_A_REQUEST
CHUNKS, WORDS_A_CHUNK, BAD_SHARE = 8, 120, 0.1


def make(
    traces: int, *, seed: int, per_request: int = TRACES_A_REQUEST, corpus: int | None = None
) -> list[bytes]:
    """Serialised requests of `per_request` traces each; ids are distinct per seed.

    So are the chunks, unless the seed of a corpus is given.
    """
    rng = random.Random(seed)
    pool = _pool(rng) if corpus is None else _corpus(corpus)
    return [_request(rng, pool, per_request) for _ in range(traces // per_request)]


@functools.cache
def _corpus(seed: int) -> list[tuple[str, str]]:
    return _pool(random.Random(seed))


def _pool(rng: random.Random) -> list[tuple[str, str]]:
    return [(f"doc-{i:04d}", _words(rng, WORDS_A_CHUNK)) for i in range(400)]


def _words(rng: random.Random, count: int) -> str:
    return " ".join(
        "".join(rng.choices(string.ascii_lowercase, k=rng.randint(2, 9))) for _ in range(count)
    )


def _request(rng: random.Random, pool: list[tuple[str, str]], traces: int) -> bytes:
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    put(resource.resource.attributes, {"service.name": "bench-rag"})
    scope = resource.scope_spans.add()
    scope.scope.name = "bench"
    for _ in range(traces):
        _trace(rng, scope, pool)
    return request.SerializeToString()


def _trace(rng: random.Random, scope: ScopeSpans, pool: list[tuple[str, str]]) -> None:
    documents = rng.sample(pool, CHUNKS)
    question = _words(rng, 10)
    words = documents[0][1].split(" ")
    is_bad = rng.random() < BAD_SHARE
    quote = _words(rng, 15) if is_bad else " ".join(words[3:18])
    answer = f'According to the source "{quote}" [{documents[0][0]}].'
    trace_id, root, now = rng.randbytes(16), rng.randbytes(8), time.time_ns()
    route = rng.choice(["/ask", "/search", "/support"])
    spans: tuple[tuple[str, bytes, dict[str, str | float]], ...] = (
        (
            "RETRIEVER",
            root,
            {"input.value": question, **_documents("retrieval.documents", documents)},
        ),
        (
            "RERANKER",
            root,
            {"reranker.query": question, **_documents("reranker.output_documents", documents)},
        ),
        ("LLM", root, _messages(question, documents, answer)),
        ("CHAIN", b"", {"http.route": route, "input.value": question, "output.value": answer}),
    )
    for number, (kind, parent, attributes) in enumerate(spans):
        span = scope.spans.add(trace_id=trace_id, name=kind.lower(), parent_span_id=parent)
        span.span_id = rng.randbytes(8) if parent else root
        _times(span, now, number, is_root=not parent)
        put(span.attributes, {"openinference.span.kind": kind, **attributes})


def _times(span: Span, now: int, number: int, *, is_root: bool) -> None:
    span.start_time_unix_nano = now if is_root else now + number * 5_000_000
    span.end_time_unix_nano = now + (30 if is_root else number * 5 + 5) * 1_000_000


def _documents(prefix: str, documents: list[tuple[str, str]]) -> dict[str, str | float]:
    flat: dict[str, str | float] = {}
    for place, (identity, text) in enumerate(documents):
        key = f"{prefix}.{place}.document."
        flat |= {f"{key}id": identity, f"{key}content": text, f"{key}score": 1 / (place + 1)}
    return flat


def _messages(
    question: str, documents: list[tuple[str, str]], answer: str
) -> dict[str, str | float]:
    prompt = question + "\n\n" + "\n".join(text for _, text in documents)
    return {
        "llm.model_name": "bench-model",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": prompt,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": answer,
        "output.value": answer,
    }


def put(attributes: object, values: Mapping[str, str | float]) -> None:
    """Adds attributes to a repeated field of them."""
    for key, value in values.items():
        item = attributes.add(key=key)  # type: ignore[attr-defined]
        if isinstance(value, str):
            item.value.string_value = value
        else:
            item.value.double_value = value
