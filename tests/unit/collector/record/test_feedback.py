"""Feedback on spans, links, events and log records: what it says and which answer it names."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from prometheus_client import REGISTRY

from collector.record import feedback
from collector.record.feedback import feedback_of
from ragvigil.model.evaluation import EVENT
from ragvigil.model.span import (
    AttributeValue,
    Closed,
    Event,
    Link,
    LogRecord,
    Scope,
    Span,
    Trace,
)
from tests.generated_traces import traces
from tests.traces import rag_trace

ANSWER, ROOT = "a" * 32, "b" * 16


def trace(*spans: Span) -> Trace:
    return Trace(trace_id=spans[0].trace_id, spans=spans, closed=Closed.IDLE, received_unix_nano=1)


def span(**fields: object) -> Span:
    given = {"trace_id": "c" * 32, "span_id": "d" * 16, "end_unix_nano": 9} | fields
    return Span(**given)  # type: ignore[arg-type]


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(feedback).failed == 0


def test_an_annotation_names_the_span_that_its_carrier_links_to() -> None:
    carrier = span(
        parent_span_id="f" * 16,
        links=(Link(trace_id=ANSWER, span_id=ROOT),),
        attributes={
            "annotations.0.annotation.name": "user thumbs",
            "annotations.0.annotation.label": "thumbs-down",
            "annotations.0.annotation.annotator_kind": "HUMAN",
            "annotations.0.annotation.explanation": "wrong fee",
        },
    )
    (event,) = feedback_of(trace(carrier))
    assert (event.trace_id, event.span_id) == (ANSWER, ROOT)
    assert (event.kind, event.value, event.source) == ("thumbs", 0.0, "openinference:human")
    assert event.comment == "user thumbs: thumbs-down: wrong fee"
    assert event.time_unix_nano == 9


def test_without_a_link_the_annotated_span_is_its_own_target() -> None:
    own = span(
        attributes={
            "evaluations.1.evaluation.name": "groundedness",
            "evaluations.1.evaluation.score": 0.75,
        }
    )
    (event,) = feedback_of(trace(own))
    assert (event.trace_id, event.span_id, event.value) == (own.trace_id, own.span_id, 0.75)


@pytest.mark.parametrize(
    ("scope", "target"),
    [("trace.", (ANSWER, "", "")), ("session.", ("", "", "chat-7"))],
)
def test_an_annotation_of_a_trace_or_session_names_that(
    scope: str, target: tuple[str, str, str]
) -> None:
    carrier = span(
        links=(Link(trace_id=ANSWER, span_id=ROOT),),
        attributes={f"{scope}annotations.0.annotation.name": "rating", "session.id": "chat-7"},
    )
    (event,) = feedback_of(trace(carrier))
    assert (event.trace_id, event.span_id, event.session_id) == target


@pytest.mark.parametrize("as_log", [False, True])
def test_an_evaluation_event_names_the_response_where_it_can(as_log: bool) -> None:
    fields = {
        "gen_ai.evaluation.name": "relevance",
        "gen_ai.evaluation.score.value": 0.5,
        "gen_ai.response.id": "chatcmpl-1",
    }
    log = LogRecord(
        trace_id="c" * 32,
        span_id="d" * 16,
        time_unix_nano=5,
        event_name=EVENT,
        body=fields,
    )
    span_event = Event(name=EVENT, time_unix_nano=5, attributes=fields)
    carrier = span(logs=(log,)) if as_log else span(events=(span_event,))
    (event,) = feedback_of(trace(carrier))
    assert (event.response_id, event.trace_id, event.value) == ("chatcmpl-1", "", 0.5)
    assert event.time_unix_nano == 5


@pytest.mark.parametrize(
    ("span_id", "response", "target"),
    [
        ("", "chatcmpl-1", ("", "", "chatcmpl-1")),
        ("", "", ("c" * 32, "", "")),
        ("e" * 16, "", ("c" * 32, "e" * 16, "")),
    ],
)
def test_a_log_record_without_its_span_names_its_response_or_its_trace(
    span_id: str, response: str, target: tuple[str, str, str]
) -> None:
    """It travels on another span, which it does not judge."""
    said = {"gen_ai.evaluation.name": "relevance", "gen_ai.response.id": response}
    log, later = (
        LogRecord(
            trace_id="c" * 32,
            span_id=span_id,
            event_name=EVENT,
            attributes=said,
            time_unix_nano=time,
        )
        for time in (6, 7)
    )
    events = feedback_of(trace(span(logs=(log, later))))
    assert [(event.trace_id, event.span_id, event.response_id) for event in events] == [target] * 2
    assert len({event.feedback_id for event in events}) == 2
    moved = feedback_of(trace(span(span_id="1" * 16, logs=(later, log))))
    assert {event.feedback_id for event in moved} == {event.feedback_id for event in events}


def test_without_a_response_id_the_span_of_the_event_is_meant() -> None:
    span_event = Event(
        name=EVENT,
        time_unix_nano=5,
        attributes={"gen_ai.evaluation.name": "n", "gen_ai.evaluation.score.label": "pass"},
    )
    (event,) = feedback_of(trace(span(events=(span_event,))))
    assert (event.span_id, event.value) == ("d" * 16, 1.0)


def test_a_target_span_of_traceai_is_taken() -> None:
    carrier = span(
        attributes={"gen_ai.evaluation.name": "n", "gen_ai.evaluation.target_span_id": ROOT}
    )
    (event,) = feedback_of(trace(carrier))
    assert event.span_id == ROOT


def test_evaluation_attributes_name_the_linked_span_before_the_parent() -> None:
    carrier = span(
        parent_span_id="f" * 16,
        links=(Link(trace_id=ANSWER, span_id=ROOT),),
        attributes={"gen_ai.evaluation.name": "n"},
    )
    (event,) = feedback_of(trace(carrier))
    assert (event.trace_id, event.span_id) == (ANSWER, ROOT)


def test_a_feedback_span_of_logfire_names_its_parent() -> None:
    carrier = span(
        parent_span_id=ROOT,
        attributes={
            "logfire.span_type": "annotation",
            "logfire.feedback.name": "thumbs",
            "logfire.feedback.comment": "great",
            "thumbs": True,
        },
    )
    (event,) = feedback_of(trace(carrier))
    assert (event.span_id, event.value, event.comment) == (ROOT, 1.0, "thumbs: great")


def test_a_score_without_a_scale_is_no_value() -> None:
    carrier = span(
        attributes={"annotations.0.annotation.name": "stars", "annotations.0.annotation.score": 4}
    )
    (event,) = feedback_of(trace(carrier))
    assert (event.kind, event.value) == ("rating", None)


def test_ordinary_traces_tell_nothing() -> None:
    assert feedback_of(rag_trace()) == ()


@given(trace=traces)
def test_it_is_total_and_the_same_twice(trace: Trace) -> None:
    events = feedback_of(trace)
    assert events == feedback_of(trace)
    assert len({event.feedback_id for event in events}) <= len(events)
    assert all(event.value is None or 0 <= event.value <= 1 for event in events)


OWN_ATTRIBUTES = {
    "gen_ai.evaluation.name": "groundedness",
    "gen_ai.evaluation.score.value": 0.25,
    "ragvigil.evaluator": "groundedness",
}


def own_results() -> float:
    return REGISTRY.get_sample_value("ragvigil_own_results_ignored_total") or 0.0


@pytest.mark.parametrize(
    ("scope", "attributes"),
    [
        (Scope(name="ragvigil"), {"evaluations.0.evaluation.name": "a"}),
        (Scope(name="renamed"), {"evaluations.0.evaluation.name": "a", "ragvigil.evaluator": "x"}),
        (Scope(), OWN_ATTRIBUTES),
    ],
)
def test_a_result_of_our_own_that_comes_back_as_a_span_is_no_feedback(
    scope: Scope, attributes: dict[str, AttributeValue]
) -> None:
    before = own_results()
    own = span(scope=scope, attributes=attributes, links=(Link(trace_id=ANSWER, span_id=ROOT),))
    assert feedback_of(trace(own)) == ()
    assert own_results() == before + 1


def test_a_result_of_our_own_among_log_records_is_no_feedback_and_others_are() -> None:
    def said(scope: str, attributes: dict[str, AttributeValue]) -> LogRecord:
        return LogRecord(
            trace_id="c" * 32,
            span_id="d" * 16,
            time_unix_nano=5,
            event_name=EVENT,
            attributes=attributes,
            scope=Scope(name=scope),
        )

    others = {"gen_ai.evaluation.name": "thumbs", "gen_ai.evaluation.score.value": 1}
    logs = (said("ragvigil", OWN_ATTRIBUTES), said("", OWN_ATTRIBUTES), said("helpdesk", others))
    (event,) = feedback_of(trace(span(logs=logs)))
    assert event.comment == "thumbs"
