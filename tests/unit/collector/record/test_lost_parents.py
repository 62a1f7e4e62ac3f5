"""Spans whose parents never arrived, and requests that failed before a model is seen."""

from __future__ import annotations

from collector.record.build import records
from ragvigil.model.record import Absent, ContextSource
from ragvigil.model.span import Span, SpanKind, StatusCode
from tests.traces import ANSWER, DOCUMENTS, QUESTION, llm, retriever, span, trace

ROUTE = {"http.route": "/ask", "http.request.method": "POST"}


def server(**more: object) -> Span:
    return span("server", ROUTE, kind=SpanKind.SERVER, at=(0, 1), **more)  # type: ignore[arg-type]


def test_what_hangs_under_lost_parents_belongs_to_the_only_request_around_it() -> None:
    search, model = retriever(parent="engine"), llm(parent="stream")
    (record,) = records(trace(server(), search, model))
    assert (record.record_id, record.route) == ("server", "/ask")
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert len(record.retrieved) == len(DOCUMENTS)


def test_lost_parents_outside_of_the_request_stay_apart() -> None:
    later = [retriever(parent="job", at=(1.1, 1.2)), llm(parent="job", at=(1.3, 1.9))]
    (record,) = records(trace(server(), *later))
    assert record.record_id == "job"


def test_lost_parents_beside_two_requests_stay_apart() -> None:
    other = span("other", kind=SpanKind.SERVER, at=(0, 1))
    (record,) = records(trace(server(), other, retriever(parent="job"), llm(parent="job")))
    assert record.record_id == "job"


def test_a_request_that_fails_before_a_model_is_seen_has_an_unknown_context() -> None:
    failed = server(status=StatusCode.ERROR, message="the model is down")
    (record,) = records(trace(failed, retriever(parent="server")))
    assert (record.context, record.context_source) == ((), ContextSource.NONE)
    assert record.absent["context"] is record.absent["answer"] is Absent.ERRORED
    assert len(record.retrieved) == len(DOCUMENTS)


def test_a_declared_context_stays_though_the_request_failed() -> None:
    declared = {"ragvigil.context": '[{"id": "a", "content": "A text."}]'}
    root = span("root", declared, status=StatusCode.ERROR)
    (record,) = records(trace(root, retriever()))
    assert [document.chunk_id for document in record.context] == ["a"]
