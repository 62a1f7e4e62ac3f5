"""What the example service sends for each question, healthy and with each fault, as records."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fastapi.testclient import TestClient
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from collector.decode.otlp import Encoding, decode
from collector.decode.spans import decode_spans
from collector.record.build import records
from collector.settings import LimitSettings
from examples.helpdesk.corpus import Question, load_questions
from examples.helpdesk.faults import Fault
from examples.helpdesk.service import create_app, make_desk
from ragvigil.model.record import RagRecord
from ragvigil.model.span import Closed, Signal, Span, Trace

HEALTHY = "healthy"
VERSIONS = re.compile(r"model|prompt_template|^metadata$")
Asked = tuple[str, str]
"""Route and text of a question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An answer as two records: from the spans as sent, and without names and versions."""

    record: RagRecord
    bare: RagRecord


def answers(faults: Sequence[Fault], *, most: int) -> dict[str, dict[Asked, Told]]:
    """Answers to up to `most` questions a route, healthy and under each fault."""
    questions = _first(load_questions(), most)
    exporter = InMemorySpanExporter()
    desk = make_desk([], exporter=exporter)
    found: dict[str, dict[Asked, Told]] = {}
    with TestClient(create_app(desk), base_url="http://helpdesk:8099") as client:
        found[HEALTHY] = {
            (question.route, question.text): _ask(client, exporter, question)
            for question in questions
        }
        for fault in faults:
            desk.board.turn_on(fault)
            found[fault] = {
                (question.route, question.text): _ask(client, exporter, question)
                for question in questions
            }
            desk.board.turn_off(fault)
    return found


def _first(questions: Sequence[Question], most: int) -> list[Question]:
    by_route: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        by_route[question.route].append(question)
    return [answer for group in by_route.values() for answer in group[:most]]


def _ask(client: TestClient, exporter: InMemorySpanExporter, question: Question) -> Told:
    exporter.clear()
    body = {"question": question.text, "language": question.language}
    client.post(question.route, json=body).raise_for_status()
    spans = decoded(exporter.get_finished_spans())
    return Told(record=record_of(spans), bare=record_of([without_versions(span) for span in spans]))


def decoded(spans: Sequence[ReadableSpan]) -> list[Span]:
    """The spans, encoded and decoded as the exporter would send them."""
    body = encode_spans(spans).SerializeToString()
    return list(
        decode_spans(decode(body, Encoding.PROTOBUF, Signal.TRACES, LimitSettings()).request)
    )


def record_of(spans: Sequence[Span]) -> RagRecord:
    """The record of one trace."""
    trace = Trace(trace_id=spans[0].trace_id, spans=tuple(spans), closed=Closed.ROOT_ENDED,
                  received_unix_nano=0)  # fmt: skip
    (record,) = records(trace)
    return record


def without_versions(span: Span) -> Span:
    """A span that names no model, prompt version, index version or release."""
    kept = {key: value for key, value in span.attributes.items() if not VERSIONS.search(key)}
    resource = {key: value for key, value in span.resource.attributes.items()
                if key != "service.version"}  # fmt: skip
    return replace(span, attributes=kept, resource=replace(span.resource, attributes=resource))


def without_document_ids(record: RagRecord) -> RagRecord:
    """The record of a service whose chunks carry no document ids."""
    return replace(
        record,
        retrieved=tuple(replace(chunk, document_id="", metadata={}) for chunk in record.retrieved),
        reranked=tuple(replace(chunk, document_id="", metadata={}) for chunk in record.reranked),
        context=tuple(replace(chunk, document_id="", metadata={}) for chunk in record.context),
    )
