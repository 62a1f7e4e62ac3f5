"""Sends results by an exporter of the OpenTelemetry SDK, as log records or as EVALUATOR spans.

The exporters retry within their timeout and return only success or failure. They log the reason
through Python's logging, which is captured here so that it cannot flood our log. Redirects are
refused and the environment's proxies ignored: results reach the configured address or none.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragvigil.llm.guard import untraced
from ragvigil.model.evaluation import EVENT, SCOPE
from scorers.export.events import AnswerResults, event_attributes, span_attributes, span_ids
from scorers.export.settings import ExportSettings, read_headers

if TYPE_CHECKING:
    from opentelemetry.sdk._logs import ReadableLogRecord
    from opentelemetry.sdk.trace import ReadableSpan

    from scorers.export.session import Session

EXPORTERS = "opentelemetry.exporter"
SIGNALS = {"events": "logs", "spans": "traces"}
"""The OTLP signal of each form, as in HTTP's path v1/logs."""
NO_PROXY = (("grpc.enable_http_proxy", 0),)
"""Without it, gRPC would use the proxy of the environment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendResult:
    """What became of a request: `failed` is empty, or says why the receiver did not accept it.

    `rejected` is the number of results that the receiver rejected from an accepted request; only
    HTTP tells.
    """

    failed: str = ""
    rejected: int = 0


class OtlpSender:
    """Sends to one receiver, from one thread. Importing the SDK is left to the constructor.

    Raises OSError, ValueError.
    """

    def __init__(self, settings: ExportSettings) -> None:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope

        self._form = settings.form
        self._resource = Resource({"service.name": SCOPE})
        self._scope = InstrumentationScope(SCOPE)
        self._session: Session | None = None
        self._exporter = self._open(settings)
        self._heard = _FirstLogLine()
        self._log = logging.getLogger(EXPORTERS)
        self._log.addHandler(self._heard)
        self._log.propagate = False  # the exporters log every retry: those lines end here

    def send(self, batch: Sequence[AnswerResults]) -> SendResult:
        """Sends the results of some answers; blocks for up to the timeout."""
        self._heard.first = ""
        if self._session is not None:
            self._session.forget()
        items = list(self._records(batch) if self._form == "events" else self._spans(batch))
        try:
            with untraced():
                done = self._exporter.export(items)
        except (ValueError, TypeError, RuntimeError) as error:  # closed meanwhile, or not encodable
            return SendResult(failed=f"{type(error).__name__}: {error}"[:300])
        if done.name != "SUCCESS":
            status = self._session.status if self._session is not None else ""
            return SendResult(failed=(status or self._heard.first or "for no known reason")[:300])
        results = sum(len(answer.results) for answer in batch)
        return SendResult(rejected=min(self._session.rejected, results) if self._session else 0)

    def close(self) -> None:
        """Aborts a request that is being sent, and closes the connection."""
        self._exporter.shutdown()
        self._log.removeHandler(self._heard)

    def _records(self, batch: Sequence[AnswerResults]) -> Iterator[ReadableLogRecord]:
        from opentelemetry._logs import LogRecord, SeverityNumber
        from opentelemetry.sdk._logs import ReadableLogRecord
        from opentelemetry.trace import NonRecordingSpan, set_span_in_context

        for answer in batch:
            judged = NonRecordingSpan(_context(answer.trace_id, answer.span_id))
            context = set_span_in_context(judged)
            for result in answer.results:
                record = LogRecord(
                    timestamp=answer.time_unix_nano,
                    observed_timestamp=answer.time_unix_nano,
                    context=context,
                    severity_number=SeverityNumber.INFO,
                    event_name=EVENT,
                    attributes=event_attributes(answer, result),
                )
                yield ReadableLogRecord(record, self._resource, self._scope)

    def _spans(self, batch: Sequence[AnswerResults]) -> Iterator[ReadableSpan]:
        from opentelemetry.sdk.trace import ReadableSpan
        from opentelemetry.trace import Link

        for answer in batch:
            yield ReadableSpan(
                name=f"evaluate {answer.details.get('ragvigil.route', '')}".rstrip(),
                context=_context(*span_ids(answer)),
                resource=self._resource,
                instrumentation_scope=self._scope,
                attributes=span_attributes(answer),
                links=(Link(_context(answer.trace_id, answer.span_id)),),
                start_time=answer.time_unix_nano,
                end_time=answer.time_unix_nano,
            )

    def _open(self, settings: ExportSettings) -> Any:
        if settings.protocol == "grpc":
            return _grpc_exporter(settings)
        from scorers.export.session import Session

        self._session = Session()
        return _http_exporter(settings, self._session)


class _FirstLogLine(logging.Handler):
    """Keeps the first log line of the exporters for a request: later lines are about retries."""

    first = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Keeps the first line, with its whitespace collapsed."""
        self.first = self.first or " ".join(record.getMessage().split())


def _context(trace_id: int, span_id: int) -> Any:
    from opentelemetry.trace import SpanContext, TraceFlags

    return SpanContext(trace_id, span_id, is_remote=True, trace_flags=TraceFlags(1))


def _grpc_exporter(settings: ExportSettings) -> Any:
    import grpc
    from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

    roots = settings.ca_file.read_bytes() if settings.ca_file else None
    exporter: Any = OTLPLogExporter if settings.form == "events" else OTLPSpanExporter
    return exporter(
        endpoint=settings.endpoint,
        insecure=not settings.is_encrypted,
        credentials=grpc.ssl_channel_credentials(roots) if settings.is_encrypted else None,
        headers=read_headers(settings.headers_file),
        timeout=settings.timeout_seconds,
        compression=grpc.Compression.Gzip,
        channel_options=NO_PROXY,
    )


def _http_exporter(settings: ExportSettings, session: Session) -> Any:
    from opentelemetry.exporter.otlp.proto.http import Compression
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    path = f"/v1/{SIGNALS[settings.form]}"
    exporter: Any = OTLPLogExporter if settings.form == "events" else OTLPSpanExporter
    return exporter(
        endpoint=settings.endpoint.removesuffix(path) + path,
        certificate_file=str(settings.ca_file) if settings.ca_file else None,
        headers=read_headers(settings.headers_file),
        timeout=settings.timeout_seconds,
        compression=Compression.Gzip,
        session=session,
    )
