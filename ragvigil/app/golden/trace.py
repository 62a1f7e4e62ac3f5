"""Reads the stored trace that a golden case came from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clustering.golden.leakage import PromptMessage
from clustering.golden.verbs import Refused
from collector.claims.claim import Field, SpanRole
from collector.claims.merge import read
from collector.claims.registry import registered
from ragvigil.model.golden import GoldenCase, QueryType
from ragvigil.model.score import Kind, Layer, Score, Stream
from ragvigil.model.span import Scope, Span
from ragvigil.store.engine.store import Store
from ragvigil.store.records import records
from ragvigil.store.records.record_forms import LISTS

Form = Mapping[str, Any]


class NotStored(LookupError):
    """No such case, trace or record is stored."""


def record_form(store: Store, trace_id: str, record_id: str = "") -> Form:
    """A stored record as the API shows it; without a `record_id`, the trace's only record.

    Raises NotStored, or Refused where the trace has several.
    """
    trace = records.trace(store, trace_id.lower())
    if trace is None:
        raise NotStored(f"there is no trace {trace_id}")
    listed = [
        record for record in trace["records"] if record_id.lower() in ("", record["record_id"])
    ]
    if not listed:
        raise NotStored(f"trace {trace_id} has no record {record_id}".rstrip())
    if len(listed) > 1:
        names = ", ".join(record["record_id"] for record in listed)
        raise Refused(f"trace {trace_id} has several records: name one of {names}")
    return dict(listed[0])


def case_of(form: Form, issue_id: str = "") -> GoldenCase:
    """A case made of a failing record, for a person to complete.

    Its failure mode is the label of the first failing score. Raises Refused without a question.
    """
    if not (form["query"] or "").strip():
        raise Refused(f"the spans of trace {form['trace_id']} carry no question")
    failed = next((score for score in form["scores"] if score["failed"]), None)
    return GoldenCase(
        case_id="",
        question=form["query"],
        query_type=QueryType.FAILURE,
        failure_mode=(failed["label"] or failed["rubric"]) if failed else "",
        service=form["service"],
        environment=form["environment"],
        route=form["route"],
        trace_id=form["trace_id"],
        record_id=form["record_id"],
        issue_id=issue_id,
    )


def prompt_of(store: Store, trace_id: str) -> list[PromptMessage] | None:
    """The messages sent to the models of a trace, call by call; None where no span has them."""
    rows = records.spans(store, trace_id) if trace_id else []
    readings = [read(_span(row), registered()) for row in rows]
    prompts = [claims.get(Field.PROMPT) for claims in readings if claims.role is SpanRole.LLM]
    messages = [
        PromptMessage(role=message.role, text=message.text)
        for prompt in prompts
        for message in prompt or ()
    ]
    return messages or None


def judged_scores(form: Form) -> list[Score]:
    """The scores by judges and people of a stored record."""
    return [
        Score(
            rubric=score["rubric"],
            value=score["value"],
            label=score["label"],
            explanation=score["explanation"],
            layer=Layer(score["layer"]),
            kind=Kind(score["kind"]),
            stream=Stream(score["stream"]),
        )
        for score in form["scores"]
        if score["kind"] in (Kind.JUDGE, Kind.HUMAN)
    ]


def chunks_of(store: Store, trace_id: str) -> list[str]:
    """The texts of every chunk of a trace, retrieved or in a prompt."""
    trace = records.trace(store, trace_id) or {"records": []}
    lists = (record[name] for record in trace["records"] for name in LISTS)
    return [chunk["content"] for listed in lists for chunk in listed if chunk["content"]]


def _span(row: Form) -> Span:
    return Span(
        trace_id=row["TraceId"],
        span_id=row["SpanId"],
        parent_span_id=row["ParentSpanId"],
        name=row["SpanName"],
        attributes=dict(row["SpanAttributes"]),
        scope=Scope(name=row["ScopeName"], version=row["ScopeVersion"]),
    )
