"""What a span above the answer returned for the same question is what the user read."""

from __future__ import annotations

import json

from collector.record.build import records
from ragvigil.model.span import Span
from tests.traces import ANSWER, DOCUMENTS, QUESTION, llm, retriever, span, trace

BLOCKED = "I cannot answer that."


def call(name: str, asked: str, returned: str, **more: object) -> Span:
    attributes = {
        "openinference.span.kind": "CHAIN",
        "input.value": asked,
        "output.value": returned,
    }
    return span(name, attributes, **more)  # type: ignore[arg-type]


def answer_below(outer: Span, *more: Span) -> str | None:
    inner = call("chain", QUESTION, ANSWER, parent=outer.span_id)
    found = records(trace(outer, inner, retriever(parent="chain"), llm(parent="chain"), *more))
    return found[0].answer


def test_a_guard_that_replaces_the_answer_has_the_last_word() -> None:
    assert answer_below(call("guarded", QUESTION, BLOCKED)) == BLOCKED


def test_a_span_that_was_asked_something_else_has_not() -> None:
    assert answer_below(call("job", "Answer all questions of today.", "All were asked.")) == ANSWER


def test_a_span_that_returns_a_structure_or_a_status_has_not() -> None:
    state = json.dumps({"question": QUESTION, "report": "One answer was given today."})
    assert answer_below(call("graph", QUESTION, state)) == ANSWER
    assert answer_below(call("handler", QUESTION, "done")) == ANSWER


def test_a_span_with_other_searches_inside_has_not() -> None:
    other = retriever("other", documents=DOCUMENTS[:1], parent="second", at=(0.92, 0.95))
    again = llm("other-llm", ANSWER, parent="second", at=(0.95, 0.99))
    second = call("second", "And vouchers?", ANSWER, parent="outer", at=(0.91, 1))
    assert answer_below(call("outer", QUESTION, BLOCKED), second, other, again) == ANSWER
