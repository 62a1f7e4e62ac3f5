"""Dify's workflows, written after its parsers of nodes: several conventions read them together.

Source: langgenius/dify `api/extensions/otel/parser` (base, retrieval, llm) and `semconv/gen_ai.py`.
"""

from __future__ import annotations

import json

from hypothesis import given

from collector.conventions import dify
from collector.record.build import records
from ragvigil.model.record import RagRecord
from ragvigil.model.span import AttributeValue, Span, SpanKind
from tests.garbage import said_of, spans_of
from tests.traces import ANSWER, DOCUMENTS, PROMPT, QUESTION, span, trace

SCORES = (0.9, 0.5, 0.4)
CHUNKS = [
    {"content": text, "title": "help.md",
     "metadata": {"_source": "knowledge", "document_id": "d-1", "document_name": "help.md",
                  "segment_id": name, "score": score}}
    for (name, text), score in zip(DOCUMENTS, SCORES, strict=True)
]  # fmt: skip
LISTED = [{"document": {"content": chunk["content"], "id": "d-1", "score": score}}
          for chunk, score in zip(CHUNKS, SCORES, strict=True)]  # fmt: skip
MESSAGE = [{"role": "user", "parts": [{"type": "text", "content": PROMPT}]}]
REPLY = [{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}],
          "finish_reason": "stop"}]  # fmt: skip


def node(kind: str, outputs: object, at: tuple[float, float], **more: AttributeValue) -> Span:
    attributes = {"gen_ai.framework": "dify", "gen_ai.span.kind": kind, "node.id": kind,
                  "output.value": json.dumps(outputs), **more}  # fmt: skip
    return span(kind, attributes, parent="server", at=at)


def record_of(chunks: list[dict[str, object]]) -> RagRecord:
    asked = {"retrieval.query": QUESTION, "input.value": json.dumps({"query": QUESTION})}
    listed = {"retrieval.document": json.dumps(LISTED)} if chunks else {}
    search = node("RETRIEVER", {"result": chunks}, (0.1, 0.2), **asked, **listed)
    said = {
        "gen_ai.input.messages": json.dumps(MESSAGE), "gen_ai.output.messages": json.dumps(REPLY),
        "gen_ai.prompt": json.dumps([{"role": "user", "text": PROMPT, "files": []}]),
        "gen_ai.completion": ANSWER, "gen_ai.request.model": "m",
    }  # fmt: skip
    model = node("LLM", {"text": ANSWER, "usage": {}}, (0.3, 0.9), **said)
    server = span("server", {"http.route": "/v1/chat-messages"}, kind=SpanKind.SERVER)
    (record,) = records(trace(server, search, model))
    return record


def test_a_segment_is_a_chunk_with_its_own_id_and_score() -> None:
    record = record_of(CHUNKS)
    assert [(d.chunk_id, d.document_id, d.score) for d in record.retrieved] == [
        (name, "d-1", score) for (name, _), score in zip(DOCUMENTS, SCORES, strict=True)
    ]
    assert (record.query, record.answer, record.route) == (QUESTION, ANSWER, "/v1/chat-messages")
    assert [citation.chunk_id for citation in record.citations] == ["refund-01"]


def test_a_retrieval_node_without_results_found_nothing() -> None:
    record = record_of([])
    assert (record.retrieved, "retrieved" in record.absent) == ((), False)


ODD = ("dify", "RETRIEVER", '{"result": [null, {"metadata": 3}]}', '{"result": [')


@given(spans_of(dify, "gen_ai.framework", "gen_ai.span.kind", "output.value", said=ODD))
def test_any_span_can_be_read(any_span: Span) -> None:
    said_of(dify, any_span)
