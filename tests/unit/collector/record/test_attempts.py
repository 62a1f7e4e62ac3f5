"""A call that failed and was made again is one answer."""

from __future__ import annotations

import pytest

from collector.record.build import records
from ragvigil.model.span import SpanKind, StatusCode
from tests.traces import ANSWER, QUESTION, llm, retriever, span, trace

ASKED = {"openinference.span.kind": "CHAIN", "input.value": QUESTION}


def attempt(name: str, start: float, *, fails: bool, parent: str = "root", query: str = QUESTION):  # type: ignore[no-untyped-def]
    status = StatusCode.ERROR if fails else StatusCode.OK
    attributes = {**ASKED, "input.value": query}
    answer = {} if fails else {"output.value": ANSWER}
    return (
        span(name, {**attributes, **answer}, parent=parent, at=(start, start + 0.3), status=status),
        retriever(f"{name}-r", query=query, parent=name, at=(start, start + 0.1)),
        llm(
            f"{name}-m",
            None if fails else ANSWER,
            parent=name,
            at=(start + 0.1, start + 0.3),
            status=status,
        ),
    )


def test_a_failed_attempt_and_the_one_that_answered_are_one_answer() -> None:
    root = span("root", {**ASKED, "output.value": ANSWER})
    (record,) = records(
        trace(root, *attempt("a", 0.1, fails=True), *attempt("b", 0.5, fails=False))
    )
    assert (record.answer, record.error) == (ANSWER, None)
    assert record.record_id == "root"
    assert len({document.chunk_id for document in record.retrieved}) == len(record.retrieved)


def test_beside_other_answers_a_failed_attempt_is_left_out() -> None:
    found = records(
        trace(
            span("root", kind=SpanKind.SERVER),
            *attempt("a", 0.1, fails=True),
            *attempt("b", 0.5, fails=False),
            *attempt("c", 0.5, fails=False, query="And vouchers?"),
        )
    )
    assert [(record.query, record.error) for record in found] == [
        (QUESTION, None),
        ("And vouchers?", None),
    ]


def test_an_attempt_that_failed_last_and_one_beside_it_stay_answers() -> None:
    last = records(
        trace(
            span("root", kind=SpanKind.SERVER),
            *attempt("a", 0.1, fails=True),
            *attempt("b", 0.5, fails=True),
        )
    )
    beside = records(
        trace(
            span("root", kind=SpanKind.SERVER),
            *attempt("a", 0.1, fails=True),
            *attempt("b", 0.2, fails=False),
        )
    )
    assert [len(last), len(beside)] == [2, 2]


@pytest.mark.parametrize("status", [StatusCode.OK, StatusCode.ERROR])
def test_of_a_call_made_twice_at_once_the_one_that_was_not_broken_off_answered(
    status: StatusCode,
) -> None:
    (record,) = records(
        trace(
            span("root", kind=SpanKind.SERVER, status=status),
            retriever(),
            llm("slow", None, at=(0.3, 0.71), status=StatusCode.ERROR, message="CancelledError"),
            llm("fast", at=(0.4, 0.7)),
        )
    )
    assert record.answer == (ANSWER if status is StatusCode.OK else None)
    assert (record.error is None) == (status is StatusCode.OK)


def test_what_a_model_with_another_task_said_does_not_stand_in_for_a_failed_answer() -> None:
    (record,) = records(
        trace(
            span("root", kind=SpanKind.SERVER),
            retriever(),
            llm("extract", "Thirty days, it says.", prompt="Extract: ...", at=(0.3, 0.5)),
            llm("answer", None, at=(0.5, 0.7), status=StatusCode.ERROR),
        )
    )
    assert (record.answer, record.error is None) == (None, False)
