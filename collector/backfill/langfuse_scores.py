"""Scores in Langfuse's exports: each becomes a carrier span that links to what was scored.

OpenInference sends such a carrier for a later annotation, so a score finds its answer whether that
was imported before, with or after it. Source: langfuse.com, Blob Storage Export Field
Reference, and the score objects of its public API.
"""

from __future__ import annotations

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.backfill.pieces import BadRow, SourceSpan, identity
from collector.backfill.rows import Row
from collector.backfill.values import clean, is_absent, nanoseconds, put
from ragvigil.model.feedback import LANGFUSE_SCORES

ANNOTATORS = {"ANNOTATION": "HUMAN", "EVAL": "LLM"}
"""Who scored, by source; a score of source API may be from a user or from code."""
MEASURED = frozenset({"NUMERIC", "BOOLEAN"})
ANNOTATION = "annotations.0.annotation."


def is_score(row: Row) -> bool:
    """Whether a row, in snake case, is a score."""
    return "value" in row and ("data_type" in row or "string_value" in row)


def carrier_of(row: Row) -> SourceSpan:
    """A carrier span for a score, in a trace of its own. Raises BadRow."""
    at = next((moment for name in ("timestamp", "created_at", "updated_at")
               if (moment := nanoseconds(row.get(name))) is not None), None)  # fmt: skip
    name = row.get("name")
    if at is None or not isinstance(name, str) or not name:
        raise BadRow("is a score without a time or a name")
    own = f"langfuse score {row.get('id') or (name, at, row.get('trace_id'))}"
    span = Span(
        trace_id=identity(own, 16),
        span_id=identity(own, 8),
        name="langfuse score",
        start_time_unix_nano=at,
        end_time_unix_nano=at,
    )
    scope = _aim(span, row)
    annotation = {"name": name, "identifier": row.get("id"), "explanation": row.get("comment")}
    annotation |= {
        "annotator_kind": ANNOTATORS.get(str(row.get("source")).upper()),
        **_score_or_label(row),
    }
    put(
        span.attributes,
        {f"{scope}{ANNOTATION}{key}": _attribute_value(value) for key, value in annotation.items()},
    )
    return SourceSpan(place=0, span=span, scope=(LANGFUSE_SCORES, ""))


def _aim(span: Span, row: Row) -> str:
    """Links the span to what was scored; returns the scope of the annotation. Raises BadRow."""
    trace, observation = row.get("trace_id"), row.get("observation_id")
    session = row.get("session_id")
    if trace:
        # For a score of a trace only the trace id counts, but a link needs a span id too.
        linked = identity(observation or trace, 8)
        span.links.add(trace_id=identity(trace, 16), span_id=linked)
        return "" if observation else "trace."
    if isinstance(session, str) and session:
        put(span.attributes, {"session.id": session})
        return "session."
    raise BadRow("is a score of neither an observation nor a trace or session")


def _score_or_label(row: Row) -> dict[str, object]:
    """The score as a number if it is numeric, else as a label: a category's number has no scale."""
    value = row.get("value")
    label = row.get("string_value") or row.get("long_string_value")
    kind = str(row.get("data_type") or "NUMERIC").upper()
    if kind in MEASURED and _number(value) is not None:
        return {"score": _number(value)}
    return {"label": label if label else value if isinstance(value, str) else None}


def _number(value: object) -> float | None:
    if isinstance(value, bool):
        return float(value)
    try:
        return float(value) if isinstance(value, int | float | str) else None
    except (ValueError, OverflowError):
        return None


def _attribute_value(value: object) -> object:
    """A cell as a value that an attribute can have: a cell may have anything."""
    if is_absent(value) or isinstance(value, str | float):
        return clean(value) if isinstance(value, str) else value
    return clean(str(value))
