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
    (told,) = feedback_of(trace(carrier))
    assert (told.trace_id, told.span_id) == (ANSWER, ROOT)
    assert (told.kind, told.value, told.source) == ("thumbs", 0.0, "openinference:human")
    assert told.comment == "user thumbs: thumbs-down: wrong fee"
    assert told.time_unix_nano == 9


def test_without_a_link_the_annotated_span_is_its_own_target() -> None:
    own = span(
        attributes={
            "evaluations.1.evaluation.name": "groundedness",
            "evaluations.1.evaluation.score": 0.75,
        }
    )
    (told,) = feedback_of(trace(own))
    assert (told.trace_id, told.span_id, told.value) == (own.trace_id, own.span_id, 0.75)


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
    (told,) = feedback_of(trace(carrier))
    assert (told.trace_id, told.span_id, told.session_id) == target


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
    event = Event(name=EVENT, time_unix_nano=5, attributes=fields)
    one = span(logs=(log,)) if as_log else span(events=(event,))
    (told,) = feedback_of(trace(one))
    assert (told.response_id, told.trace_id, told.value) == ("chatcmpl-1", "", 0.5)
    assert told.time_unix_nano == 5


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
    found = feedback_of(trace(span(logs=(log, later))))
    assert [(one.trace_id, one.span_id, one.response_id) for one in found] == [target] * 2
    assert len({one.feedback_id for one in found}) == 2
    moved = feedback_of(trace(span(span_id="1" * 16, logs=(later, log))))
    assert {one.feedback_id for one in moved} == {one.feedback_id for one in found}


def test_without_a_response_id_the_span_of_the_event_is_meant() -> None:
    event = Event(
        name=EVENT,
        time_unix_nano=5,
        attributes={"gen_ai.evaluation.name": "n", "gen_ai.evaluation.score.label": "pass"},
    )
    (told,) = feedback_of(trace(span(events=(event,))))
    assert (told.span_id, told.value) == ("d" * 16, 1.0)


def test_a_target_span_of_traceai_is_taken() -> None:
    one = span(attributes={"gen_ai.evaluation.name": "n", "gen_ai.evaluation.target_span_id": ROOT})
    (told,) = feedback_of(trace(one))
    assert told.span_id == ROOT


def test_evaluation_attributes_name_the_linked_span_before_the_parent() -> None:
    one = span(
        parent_span_id="f" * 16,
        links=(Link(trace_id=ANSWER, span_id=ROOT),),
        attributes={"gen_ai.evaluation.name": "n"},
    )
    (told,) = feedback_of(trace(one))
    assert (told.trace_id, told.span_id) == (ANSWER, ROOT)


def test_a_feedback_span_of_logfire_names_its_parent() -> None:
    one = span(
        parent_span_id=ROOT,
        attributes={
            "logfire.span_type": "annotation",
            "logfire.feedback.name": "thumbs",
            "logfire.feedback.comment": "great",
            "thumbs": True,
        },
    )
    (told,) = feedback_of(trace(one))
    assert (told.span_id, told.value, told.comment) == (ROOT, 1.0, "thumbs: great")


def test_a_score_without_a_scale_is_no_value() -> None:
    one = span(
        attributes={"annotations.0.annotation.name": "stars", "annotations.0.annotation.score": 4}
    )
    (told,) = feedback_of(trace(one))
    assert (told.kind, told.value) == ("rating", None)


def test_ordinary_traces_tell_nothing() -> None:
    assert feedback_of(rag_trace()) == ()


@given(trace=traces)
def test_it_is_total_and_the_same_twice(trace: Trace) -> None:
    found = feedback_of(trace)
    assert found == feedback_of(trace)
    assert len({one.feedback_id for one in found}) <= len(found)
    assert all(one.value is None or 0 <= one.value <= 1 for one in found)


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
    (told,) = feedback_of(trace(span(logs=logs)))
    assert told.comment == "thumbs"
