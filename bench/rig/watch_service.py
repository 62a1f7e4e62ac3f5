"""The example service, with spans that tell the daemon's time: see ragvigil/model/clock.py.

RAGVIGIL_CLOCK=60@1767225600 python bench/rig/watch_service.py --port 8099 --to http://127.0.0.1:4318
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import httpx2
import uvicorn
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from examples.helpdesk.corpus import Question, load_questions
from examples.helpdesk.faults import Fault
from examples.helpdesk.pipeline import Asked, Helpdesk
from examples.helpdesk.service import create_app, make_desk
from ragvigil.model.clock import Pace, pace

HEADERS = {"content-type": "application/x-protobuf"}
BATCH_MILLISECONDS = 200


class Nowhere(SpanExporter):
    """Where the service's own exporter sends."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:  # noqa: ARG002
        return SpanExportResult.SUCCESS


class Hastened(SpanExporter):
    """Sends spans as if they had happened at the daemon's time; how long they took stays."""

    def __init__(self, to: str, clock: Pace) -> None:
        self._client = httpx2.Client(base_url=to, timeout=10)
        self._clock = clock

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        request = encode_spans(spans)
        now = time.time()
        ahead = int((self._clock.at(now) - now) * 1e9)
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                for span in scope.spans:
                    span.start_time_unix_nano += ahead
                    span.end_time_unix_nano += ahead
        reply = self._client.post(
            "/v1/traces", content=request.SerializeToString(), headers=HEADERS
        )
        return SpanExportResult.SUCCESS if reply.is_success else SpanExportResult.FAILURE


def warm_up(desk: Helpdesk) -> None:
    """Makes the index of every fault and the vector of every question, as if it had long run."""
    questions = load_questions()
    for fault in Fault:
        desk.board.turn_on(fault)
        _ask(desk, questions[0])
        desk.board.turn_off(fault)
    for question in questions:
        _ask(desk, question)


def _ask(desk: Helpdesk, question: Question) -> None:
    desk.ask(Asked(route=question.route, question=question.text, language=question.language))


def main() -> None:
    """Serves until it is stopped."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--to", required=True, help="the daemon's OTLP/HTTP address")
    options = parser.parse_args()
    desk = make_desk([], exporter=Nowhere())
    warm_up(desk)
    hastened = BatchSpanProcessor(
        Hastened(options.to, pace()), schedule_delay_millis=BATCH_MILLISECONDS
    )
    desk.provider.add_span_processor(hastened)
    uvicorn.run(create_app(desk), host="127.0.0.1", port=options.port, log_level="warning")


if __name__ == "__main__":
    main()
