"""Braintrust: spans of the user's own under its names, the model's among them."""

from __future__ import annotations

import json

from hypothesis import given

from collector.conventions.traced_functions import braintrust
from collector.record.build import records
from ragvigil.model.span import AttributeValue, Span
from tests.garbage import said_of, spans_of
from tests.traces import ANSWER, DOCUMENTS, PROMPT, QUESTION, span, trace

FOUND = [{"id": name, "content": text} for name, text in DOCUMENTS]


def traced(kind: str, given_: object, returned: object) -> dict[str, AttributeValue]:
    return {
        "braintrust.span_attributes": json.dumps({"type": kind}),
        "braintrust.input_json": json.dumps(given_),
        "braintrust.output_json": json.dumps(returned),
    }


def test_all_of_an_answer_under_names_of_braintrust() -> None:
    model = {
        **traced("llm", [{"role": "user", "content": PROMPT}],
                 [{"role": "assistant", "content": ANSWER}]),
        "braintrust.metadata": json.dumps({"model": "small"}),
        "braintrust.metrics": json.dumps({"prompt_tokens": 5, "completion_tokens": 3}),
    }  # fmt: skip
    (record,) = records(
        trace(span("ask", traced("task", {"question": QUESTION}, ANSWER)),
              span("find_docs", traced("function", QUESTION, FOUND), parent="ask", at=(0.1, 0.2)),
              span("chat", model, parent="ask", at=(0.3, 0.9)))
    )  # fmt: skip
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [document.chunk_id for document in record.retrieved] == [name for name, _ in DOCUMENTS]
    assert record.dimensions.llm_model == "small"
    assert record.usage is not None
    assert record.usage.output_tokens == 3


def test_a_service_that_returns_its_sources_is_no_search() -> None:
    """It is named like one, and has documents; but it answers."""
    returned = {"answer": ANSWER, "documents": FOUND}
    (record,) = records(
        trace(span("ask_docs", traced("task", {"question": QUESTION}, returned)),
              span("retrieve", traced("task", QUESTION, FOUND), parent="ask_docs", at=(0.1, 0.2)))
    )  # fmt: skip
    assert (record.record_id, record.answer) == ("ask_docs", ANSWER)


@given(spans_of(braintrust, "braintrust.span_attributes", "braintrust.metrics",
                said=tuple(json.dumps({"type": kind}) for kind in braintrust.ROLES)))  # fmt: skip
def test_any_span_can_be_read(any_span: Span) -> None:
    said_of(braintrust, any_span)
