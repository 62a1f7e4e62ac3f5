"""Records of what an import read, and of the capture that its source was made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from collector.backfill.pieces import Piece
from collector.decode.otlp import Encoding, decode
from collector.decode.spans import decode_spans
from collector.record.build import records
from collector.settings import LimitSettings
from ragvigil.model.record import RagRecord
from ragvigil.model.span import Closed, Signal, Span, Trace

GOLDEN = Path(__file__).parent / "golden"


def spans_of(pieces: Iterable[Piece]) -> list[Span]:
    """The spans as the daemon decodes them; none may be rejected."""
    found: list[Span] = []
    for piece in pieces:
        read = decode(piece.payload, Encoding.PROTOBUF, Signal.TRACES, LimitSettings())
        assert not read.rejected
        assert read.items == piece.items
        found += decode_spans(read.request)
    return found


def records_of(pieces: Iterable[Piece]) -> dict[str, RagRecord]:
    """The records by trace."""
    traces: dict[str, list[Span]] = defaultdict(list)
    for span in spans_of(pieces):
        traces[span.trace_id].append(span)
    return {
        key: record
        for key, spans in traces.items()
        for record in records(
            Trace(trace_id=key, spans=tuple(spans), closed=Closed.IDLE, received_unix_nano=0)
        )
    }


def said(record: RagRecord) -> tuple[object, ...]:
    """What a record says of a question and its answer, whatever stack told it."""
    context = tuple(chunk.content for chunk in record.context or ())
    dimensions = record.dimensions
    return record.query, record.answer, context, dimensions.llm_model, record.usage
