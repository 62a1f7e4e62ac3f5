"""Records and scores as the API shows them, for tests of what is shown of an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragvigil.model.record import Document, RagRecord
from ragvigil.model.score import Score
from ragvigil.store.records.record_forms import (
    CITATION,
    DIMENSIONS,
    LATENCIES,
    USAGE,
    time_of,
)
from ragvigil.web.views.records import RecordForm

SAME = (
    *("trace_id", "record_id", "service", "environment", "route", "query", "answer", "error"),
    *("entry_route", "generation", "context_source", "truncated", "cost_usd", "session_id"),
    *("user_id", "response_ids", "instrumentors", "conventions", "absent", "sampling_probability"),
)


def record_form(
    record: RagRecord, scores: Sequence[Score] = (), bars: Mapping[str, float] | None = None
) -> RecordForm:
    """A record as the API shows it; a score under the bar of its rubric fails, 0.5 without."""
    fails_below = bars or {}
    cited = ({name: getattr(each, name) for name in CITATION} for each in record.citations)
    return RecordForm.model_validate(
        {
            **{name: getattr(record, name) for name in SAME},
            **{
                name: [_document(chunk) for chunk in getattr(record, name)]
                for name in ("retrieved", "reranked", "context")
            },
            "citations": [{**each, "document_id": ""} for each in cited],
            "usage": {name: getattr(record.usage, name) for name in USAGE},
            "latencies": {name: getattr(record.latencies, name) for name in LATENCIES},
            "dimensions": {name: getattr(record.dimensions, name) for name in DIMENSIONS},
            "shape": {},
            "time": time_of(record.ended_unix_nano),
            "started": time_of(record.started_unix_nano),
            "ended": time_of(record.ended_unix_nano),
            "clock_replaced": False,
            "backfill": "",
            "feedback": [
                {
                    "kind": each.kind,
                    "value": each.value,
                    "comment": each.comment,
                    "source": each.source,
                    "time": time_of(each.time_unix_nano),
                }
                for each in record.feedback
            ],
            "scores": [_score(score, fails_below.get(score.rubric, 0.5)) for score in scores],
        }
    )


def _document(chunk: Document) -> dict[str, object]:
    names = ("document_id", "content", "score", "rank", "metadata")
    return {"id": chunk.chunk_id, **{name: getattr(chunk, name) for name in names}}


def _score(score: Score, bar: float) -> dict[str, object]:
    names = ("rubric", "layer", "value", "label", "explanation", "scorer", "version", "kind")
    return {
        **{name: getattr(score, name) for name in (*names, "stream", "absent", "details")},
        "segment": f"r1 {score.scorer}{score.version}",
        "failed": score.fails(bar),
    }
