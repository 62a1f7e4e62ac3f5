"""The core's pipeline on a spool in a folder, with a clock that the test moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from clickhouse_connect.driver.client import Client
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from alerts.deltas.metrics import ScoreMetrics
from alerts.settings import MetricsSettings
from collector.settings import CollectorSettings
from collector.spool.spool import SpoolWriter
from ragvigil.app.parts import assemble
from ragvigil.app.pipeline.balance import SpanBalance
from ragvigil.app.pipeline.loop import Pipeline
from ragvigil.app.settings import Settings
from ragvigil.model.span import Signal, Span
from ragvigil.store.engine.store import Priority, Store
from ragvigil.store.settings import KeptSpans, StoreSettings
from scorers.runner import Runner, load_scorers
from scorers.settings import ScorersSettings
from tests.outcomes import NOW, SECOND
from tests.traces import llm, rag_trace, retriever, span

__all__ = ["Core", "answer", "llm", "request", "retriever", "span"]

SHIFT = NOW - 110 * SECOND
"""From the times of `tests.traces` to a few seconds before now."""


def trace_id(number: int) -> bytes:
    """16 bytes that name a trace."""
    return number.to_bytes(16, "big")


def answer(text: str = "Within 30 days of delivery. [refund-01]") -> Sequence[Span]:
    """The spans of one answer: a root, a retriever, a model."""
    return rag_trace(text).spans


def request(number: int, spans: Sequence[Span], *, shift: int = SHIFT) -> ExportTraceServiceRequest:
    """The spans as the OTLP request of trace `number`."""
    body = ExportTraceServiceRequest()
    resource = body.resource_spans.add()
    resource.resource.attributes.add(key="service.name").value.string_value = "shop"
    scope = resource.scope_spans.add()
    for span_ in spans:
        sent = scope.spans.add(
            trace_id=trace_id(number), span_id=_id(span_.span_id), name=span_.name
        )
        sent.parent_span_id = _id(span_.parent_span_id) if span_.parent_span_id else b""
        sent.start_time_unix_nano = span_.start_unix_nano + shift
        sent.end_time_unix_nano = span_.end_unix_nano + shift
        sent.kind = span_.kind.value
        sent.trace_state = span_.trace_state
        for key, value in span_.attributes.items():
            sent.attributes.add(key=key).value.string_value = str(value)
    return body


def _id(name: str) -> bytes:
    return blake2b(name.encode(), digest_size=8).digest()


@dataclass(kw_only=True)
class Core:
    """A life of the core; `restarted` is the next, which has only the spool and the store."""

    folder: Path
    store: Store
    spool: SpoolWriter
    now: float = 1000.0
    collector: CollectorSettings = field(default_factory=CollectorSettings)
    memory_limit_bytes: int | None = None
    processes: int = 0
    keeps: KeptSpans = KeptSpans.ALL
    scores: ScoreMetrics = field(
        default_factory=lambda: ScoreMetrics(MetricsSettings(), {}, lambda: NOW / SECOND)
    )

    def __post_init__(self) -> None:
        settings = Settings(
            data_dir=self.folder,
            collector=self.collector,
            scorers=ScorersSettings(processes=self.processes),
            store=StoreSettings(spans=self.keeps),
        )
        self.parts = assemble(settings, self.store, Runner(load_scorers()), self.scores)
        self.loop = self.parts.pipeline
        self.pipeline = Pipeline(
            self.loop, clock=lambda: self.now, memory_limit_bytes=self.memory_limit_bytes
        )
        self.balance = SpanBalance(
            self.folder / "spool", self.store, self.pipeline, clock=lambda: self.now
        )

    @classmethod
    async def born(cls, folder: Path, store: Store, **settings: Any) -> Core:
        """The first life, on an empty spool."""
        spool = await SpoolWriter.open(folder / "spool", segment_bytes=16_384)
        return cls(folder=folder, store=store, spool=spool, **settings)

    def restarted(self) -> Core:
        """The life after a crash: nothing is handed over in memory."""
        return Core(
            folder=self.folder,
            store=self.store,
            spool=self.spool,
            now=self.now + 60,
            keeps=self.keeps,
        )

    async def send(
        self,
        number: int,
        spans: Sequence[Span],
        *,
        backfill: str = "",
        received: int = NOW,
        shift: int = SHIFT,
    ) -> int:
        """Puts the spans of trace `number` into the spool; the frame's seq."""
        body = request(number, spans, shift=shift).SerializeToString()
        return await self.raw(body, len(spans), backfill=backfill, received=received)

    async def raw(self, body: bytes, items: int, *, backfill: str = "", received: int = NOW) -> int:
        """Puts a body into the spool as an acknowledged request of `items` spans."""
        return await self.spool.append(
            body,
            signal=Signal.TRACES,
            items=items,
            received_unix_nano=received,
            backfill=backfill,
        )

    def pass_time(self, seconds: float) -> None:
        """Reads everything, moves the clock, closes what is due, waits until it is durable."""
        while self.pipeline.step():
            self.now += 0.001
        self.now += seconds
        while self.pipeline.step():
            self.now += 0.001
        self.loop.sink.finish(30)
        self.loop.sink.publish(self.pipeline.spans_read)

    def rows(self, table: str) -> list[dict[str, Any]]:
        """The newest rows of a table."""
        sql = f"SELECT * FROM {table} FINAL"

        def query(client: Client) -> list[dict[str, Any]]:
            return list(client.query(sql).named_results())

        rows: list[dict[str, Any]] = self.store._ask("rows", query, Priority.SCAN)
        return rows
