"""Reads feedback and evaluations that arrive as telemetry, and the answer that they are about.

ragvigil reads OpenInference's annotations (on the judged span, or on a carrier span that links to
it), OpenTelemetry's `gen_ai.evaluation.result` (a span event, attributes, or a log record with or
without a span), traceAI's target span and Logfire's feedback spans. The answer may be stored before
or after its feedback: the store joins them when read. None of this becomes a score of ragvigil: a
model's evaluation keeps its source, and results that ragvigil exported are skipped and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from math import isfinite

from prometheus_client import Counter

from collector.claims.flat import CACHED_NAMES, columns
from collector.claims.recover import number, text
from ragvigil.model.evaluation import EVENT, is_own_result
from ragvigil.model.feedback import LANGFUSE_SCORES, FeedbackEvent
from ragvigil.model.span import Attributes, LogRecord, Span, Trace

FEEDBACK_NAME = re.compile(
    r"(?:trace\.|session\.)?(?:annotations|evaluations)\.|gen_ai\.evaluation\.|logfire\.feedback\."
)
"""The beginnings of attribute names that carry feedback."""
OWN_RESULTS = Counter(
    "ragvigil_own_results_ignored",
    "Exported results that came back: neither feedback nor a new score.",
)
LOOSE = "log:"
"""The prefix of the place of a log record that has no span in the trace."""
ANNOTATIONS = {"annotations.": "annotation.", "evaluations.": "evaluation."}
SCOPES = ("", "trace.", "session.")
# Tried in order by the feedback's name; a name that matches none is a rating.
KINDS = (
    (re.compile(r"thumb|like|vote|satisf|helpful|feedback", re.IGNORECASE), "thumbs"),
    (re.compile(r"escalat|handoff|handover", re.IGNORECASE), "escalation"),
    (re.compile(r"correction|edited|rewrite", re.IGNORECASE), "correction"),
    (re.compile(r"retry|regenerat|rephras", re.IGNORECASE), "retry"),
)
GOOD = frozenset({
    "up", "thumbs_up", "positive", "good", "like", "liked", "helpful", "correct", "yes", "true",
    "pass", "passed",
})  # fmt: skip
BAD = frozenset({
    "down", "thumbs_down", "negative", "bad", "dislike", "disliked", "unhelpful", "incorrect", "no",
    "false", "fail", "failed",
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is judged, by the ids in the carrier."""

    trace_id: str = ""
    span_id: str = ""
    session_id: str = ""
    response_id: str = ""


def feedback_of(trace: Trace) -> tuple[FeedbackEvent, ...]:
    """All feedback in a trace; the same spans always give the same ids."""
    return tuple(
        event
        for span in trace.spans
        if _may_carry_feedback(span) and not _is_own(span)
        for event in _of_span(span)
    )


def _is_own(span: Span) -> bool:
    """Whether a span carries results that ragvigil exported; counts them."""
    is_own = is_own_result(span.scope, span.attributes)
    OWN_RESULTS.inc(is_own)
    return is_own


def _may_carry_feedback(span: Span) -> bool:
    if span.events and any(event.name == EVENT for event in span.events):
        return True
    if span.logs and any(log.event_name == EVENT for log in span.logs):
        return True
    names = tuple(span.attributes)
    return (
        _have_feedback(names)
        if len(names) <= CACHED_NAMES
        else any(map(FEEDBACK_NAME.match, names))
    )


# A service sends few different sets of names, so the result is cached per set.
@lru_cache(maxsize=512)
def _have_feedback(names: tuple[str, ...]) -> bool:
    return any(map(FEEDBACK_NAME.match, names))


def _of_span(span: Span) -> Iterator[FeedbackEvent]:
    yield from _annotations(span)
    if "gen_ai.evaluation.name" in span.attributes:
        target = text(span.attributes.get("gen_ai.evaluation.target_span_id"))
        own = Target(trace_id=span.trace_id, span_id=target or span.parent_span_id or span.span_id)
        if not target and len(span.links) == 1:  # a carrier span: its parent is the judging job
            own = _annotated(span, "")
        yield from _evaluation(span, "attributes", span.attributes, own, span.end_unix_nano)
    for place, event in enumerate(span.events):
        if event.name == EVENT:
            yield from _evaluation(
                span, f"event{place}", event.attributes, _itself(span), event.time_unix_nano
            )
    for place, log in enumerate(span.logs):
        if log.event_name == EVENT and not is_own_result(log.scope, log.attributes):
            place_ = f"log{place}" if log.span_id == span.span_id else _content(log)
            own = Target(trace_id=log.trace_id, span_id=log.span_id)
            yield from _evaluation(span, place_, _fields(log), own, log.time_unix_nano)
    if span.attributes.get("logfire.span_type") == "annotation":
        yield from _logfire(span)


def _itself(span: Span) -> Target:
    return Target(trace_id=span.trace_id, span_id=span.span_id)


def _content(log: LogRecord) -> str:
    """Names a log record without a span by its content: its place may change with a late span."""
    content = repr((log.span_id, log.time_unix_nano, sorted(_fields(log).items(), key=str)))
    return f"{LOOSE}{blake2b(content.encode('utf-8', 'replace'), digest_size=8).hexdigest()}"


def _fields(log: LogRecord) -> Attributes:
    """A log record's attributes, and its body if that is a map."""
    body = log.body if isinstance(log.body, dict) else {}
    return {**body, **log.attributes}


def _annotations(span: Span) -> Iterator[FeedbackEvent]:
    for scope in SCOPES:
        for family, part in ANNOTATIONS.items():
            rows = columns(span.attributes, scope + family)
            for index in sorted(rows):
                row = {name.removeprefix(part): value for name, value in rows[index].items()}
                name = text(row.get("name"))
                if name:
                    place = f"{scope}{family}{text(row.get('identifier')) or index}"
                    by = text(row.get("annotator_kind")).lower()
                    origin = "langfuse" if span.scope.name == LANGFUSE_SCORES else "openinference"
                    source = f"{origin}:{by}" if by else origin
                    yield _event(
                        span, place, name, row, _annotated(span, scope), span.end_unix_nano, source
                    )


def _annotated(span: Span, scope: str) -> Target:
    """The span that a carrier links to, else the span itself; never the parent."""
    if scope == "session.":
        return Target(session_id=text(span.attributes.get("session.id")))
    linked = span.links[0] if len(span.links) == 1 else None
    trace_id = linked.trace_id if linked else span.trace_id
    if scope == "trace.":
        return Target(trace_id=trace_id)
    return Target(trace_id=trace_id, span_id=linked.span_id if linked else span.span_id)


def _evaluation(
    span: Span, place: str, fields: Mapping[str, object], target: Target, time: int
) -> Iterator[FeedbackEvent]:
    """OpenTelemetry's evaluation of the span it is on; a response id is more precise."""
    name = text(fields.get("gen_ai.evaluation.name"))
    response = text(fields.get("gen_ai.response.id"))
    if not name:
        return
    row = {
        "score": fields.get("gen_ai.evaluation.score.value"),
        "label": fields.get("gen_ai.evaluation.score.label"),
        "explanation": fields.get("gen_ai.evaluation.explanation"),
    }
    aimed = Target(response_id=response) if response else target
    yield _event(span, place, name, row, aimed, time, "gen_ai.evaluation")


def _logfire(span: Span) -> Iterator[FeedbackEvent]:
    """Logfire: a child of the judged span; the attribute named like the feedback has the value."""
    name = text(span.attributes.get("logfire.feedback.name"))
    value = span.attributes.get(name)
    if not name or not span.parent_span_id:
        return
    row = {
        "score": None if isinstance(value, str) else value,
        "label": value if isinstance(value, str) else None,
        "explanation": span.attributes.get("logfire.feedback.comment"),
    }
    target = Target(trace_id=span.trace_id, span_id=span.parent_span_id)
    yield _event(span, "logfire", name, row, target, span.end_unix_nano, "logfire")


def _event(
    span: Span,
    place: str,
    name: str,
    row: Mapping[str, object],
    target: Target,
    time: int,
    source: str,
) -> FeedbackEvent:
    kind = next((kind for pattern, kind in KINDS if pattern.search(name)), "rating")
    label, why = text(row.get("label")), text(row.get("explanation"))
    return FeedbackEvent(
        feedback_id=f"{span.trace_id}:{'' if place.startswith(LOOSE) else span.span_id}:{place}",
        kind=kind,
        time_unix_nano=time or span.end_unix_nano or span.start_unix_nano,
        value=value_of(row.get("score"), label, kind),
        comment=": ".join(part for part in (name, label, why) if part),
        source=source,
        trace_id=target.trace_id,
        span_id=target.span_id,
        session_id=target.session_id,
        response_id=target.response_id,
    )


def value_of(score: object, label: str, kind: str) -> float | None:
    """From 0 (bad) to 1 (good); None if neither score nor label says which.

    Scores have no common scale: a score in 0..1 is used, a thumb by its sign, no other.

    >>> value_of(0.25, "", "rating"), value_of(4, "", "rating"), value_of(-1, "", "thumbs")
    (0.25, None, 0.0)
    >>> value_of(None, "thumbs-down", "thumbs"), value_of(None, "off topic", "rating")
    (0.0, None)
    """
    if isinstance(score, bool):
        return float(score)
    value = number(score)
    if value is not None and isfinite(value):
        if 0 <= value <= 1:
            return value
        return float(value > 0) if kind == "thumbs" else None
    word = label.strip().lower().replace("-", "_").replace(" ", "_")
    return 1.0 if word in GOOD else 0.0 if word in BAD else None
