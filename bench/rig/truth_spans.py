"""The spans of the second service, in the GenAI conventions of OpenTelemetry."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from bench.rig.truth_service import RETRIEVED, Hit, Response
from ragvigil.model.span import Closed, Resource, Scope, Span, SpanKind, StatusCode, Trace

RESOURCE = Resource(
    attributes={
        "service.name": "atlas",
        "deployment.environment.name": "production",
        "service.version": "3.2.0",
    }
)
TRACE_ID, ROOT_ID = "0" * 32, f"{0:015x}a"
DURATION = 1_500_000_000
FAILED = "HTTP 500"
Attributes = dict[str, Any]


def trace_of(response: Response) -> Trace:
    """The trace of a request as it arrives; ids and times are the same in each."""
    steps = [("retrieval passages", 0.01, 0.15, _retrieval(response))]
    if response.is_reranked and response.retrieved:
        steps.append(("rerank", 0.16, 0.25, _reranking(response)))
    steps.append(("chat", 0.26, 0.99, _chat(response)))
    entry = {"http.request.method": "POST", "http.route": response.question.route}
    spans = [_span(0, "POST", 0.0, 1.0, entry, has_failed=response.has_failed)]
    for place, (name, begin, end, attributes) in enumerate(steps, 1):
        has_failed = response.has_failed and name == "chat"
        spans.append(_span(place, name, begin, end, attributes, has_failed=has_failed))
    return Trace(
        trace_id=TRACE_ID,
        spans=tuple(spans),
        closed=Closed.ROOT_ENDED,
        received_unix_nano=DURATION,
    )


def _span(
    place: int, name: str, begin: float, end: float, attributes: Attributes, *, has_failed: bool
) -> Span:
    """A span from one share of the request's time to another; the first is the root."""
    return Span(
        trace_id=TRACE_ID,
        span_id=f"{place:016x}" if place else ROOT_ID,
        parent_span_id=ROOT_ID if place else "",
        name=name,
        kind=SpanKind.CLIENT if place else SpanKind.SERVER,
        start_unix_nano=int(DURATION * begin),
        end_unix_nano=int(DURATION * end),
        attributes=attributes,
        status=StatusCode.ERROR if has_failed else StatusCode.UNSET,
        status_message=FAILED if has_failed else "",
        resource=RESOURCE,
        scope=Scope(name="atlas.tracing", version="1"),
    )


def _retrieval(response: Response) -> Attributes:
    return {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.retrieval.query.text": response.question.text,
        "gen_ai.retrieval.top_k": max(RETRIEVED, len(response.retrieved)),
        "gen_ai.retrieval.documents": _documents(response.retrieved, response),
    }


def _reranking(response: Response) -> Attributes:
    return {
        "gen_ai.operation.name": "rerank",
        "gen_ai.request.model": "sorter-1",
        "gen_ai.reranker.query": response.question.text,
        "gen_ai.reranker.output_documents": _documents(response.kept, response),
    }


def _chat(response: Response) -> Attributes:
    passages = "\n\n".join(f"[{n}] {hit.chunk.text}" for n, hit in enumerate(response.kept, 1))
    prompt = f"{passages}\n\nQuestion: {response.question.text}"
    attributes: Attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": response.model,
        "gen_ai.request.temperature": 0.2,
        "gen_ai.request.max_tokens": 600,
        "gen_ai.usage.input_tokens": len(prompt) // 4,
    }
    if response.prompt_version:
        attributes["gen_ai.prompt.version"] = response.prompt_version
    if response.sends_texts:
        attributes["gen_ai.input.messages"] = _messages(
            ("system", response.system), ("user", prompt)
        )
    if response.has_failed:
        return attributes | {"error.type": "InternalServerError"}
    return attributes | {
        "gen_ai.output.messages": _messages(("assistant", response.text)),
        "gen_ai.usage.output_tokens": len(response.text) // 4,
        "gen_ai.response.finish_reasons": ["length" if response.is_cut else "stop"],
    }


def _messages(*messages: tuple[str, str]) -> str:
    return json.dumps(
        [{"role": role, "parts": [{"type": "text", "content": text}]} for role, text in messages],
        ensure_ascii=False,
    )


def _documents(hits: Sequence[Hit], response: Response) -> str:
    return json.dumps(
        [
            {
                "id": hit.chunk.chunk_id,
                "score": hit.score,
                "metadata": {"document_id": hit.chunk.document_id},
            }
            | ({"content": hit.chunk.text} if response.sends_texts else {})
            for hit in hits
        ],
        ensure_ascii=False,
    )
