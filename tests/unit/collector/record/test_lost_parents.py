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


def test_the_turns_of_a_session_stay_apart_though_their_parents_were_lost() -> None:
    session = span("session", {"openinference.span.kind": "AGENT"}, at=(0, 9))
    turns = [
        part
        for turn, second in (("a", 1), ("b", 5))
        for part in (
            retriever(f"search-{turn}", parent=f"engine-{turn}", at=(second, second + 1)),
            llm(f"llm-{turn}", f"Answer {turn}.", parent=f"stream-{turn}",
                at=(second + 1, second + 2)),
        )
    ]  # fmt: skip
    assert {r.answer for r in records(trace(session, *turns))} == {"Answer a.", "Answer b."}


def test_a_job_beside_the_answer_whose_parent_was_lost_does_not_answer() -> None:
    job = llm("grade", "Grade: good.", prompt="Grade it.", parent="job", at=(0.91, 0.95))
    found = records(trace(server(), retriever(parent="server"), llm(parent="server"), job))
    assert next(r for r in found if r.record_id == "server").answer == ANSWER


def test_a_service_whose_callers_span_was_lost_is_part_of_the_request() -> None:
    search = span("search", kind=SpanKind.SERVER, parent="lost", at=(0.05, 0.25), service="search")
    found = retriever(parent="search", service="search")
    (record,) = records(trace(server(), search, found, llm(parent="stream")))
    assert (record.record_id, record.route, record.answer) == ("server", "/ask", ANSWER)
    assert len(record.retrieved) == len(DOCUMENTS)


def test_two_answers_of_services_whose_callers_were_lost_stay_two() -> None:
    parts = [
        part
        for name in ("a", "b")
        for part in (
            span(name, kind=SpanKind.SERVER, parent=f"call-{name}", at=(0.1, 0.95)),
            retriever(f"search-{name}", parent=name),
            llm(f"llm-{name}", f"Answer {name}.", parent=name),
        )
    ]
    found = records(trace(server(), *parts))
    assert {(r.record_id, r.answer) for r in found} == {("a", "Answer a."), ("b", "Answer b.")}


def test_a_parent_that_comes_late_changes_no_record() -> None:
    parts = (server(), retriever(parent="engine"), llm(parent="stream"))
    (early,) = records(trace(*parts))
    late = (span("engine", parent="server"), span("stream", parent="server", at=(0.2, 1)))
    (whole,) = records(trace(*parts, *late))
    assert (early.record_id, early.answer, early.retrieved, early.context) == (
        whole.record_id, whole.answer, whole.retrieved, whole.context)  # fmt: skip


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
