"""LiteLLM: the raw request of any provider, in Python's form; the price stands around it."""

from __future__ import annotations

from hypothesis import given

from collector.conventions import litellm
from collector.record.build import records
from ragvigil.model.record import Absent, RagRecord
from ragvigil.model.span import AttributeValue, Span
from tests.garbage import said_of, spans_of
from tests.traces import ANSWER, PROMPT, QUESTION, retriever, span, trace

RAW: dict[str, AttributeValue] = {
    "llm.mistral.messages": repr([{"role": "user", "content": PROMPT}]),
    "llm.mistral.choices": repr(
        [{"finish_reason": "stop", "message": {"content": ANSWER, "role": "assistant"}}]
    ),
    "llm.mistral.usage": repr({"completion_tokens": 3, "prompt_tokens": 5}),
    "llm.mistral.model": "small",
}


def record_of(raw: dict[str, AttributeValue], *around: Span) -> RagRecord:
    parent = around[0].span_id if around else "root"
    call = span(litellm.RAW, raw, parent=parent, at=(0.3, 0.9), scope="litellm")
    (record,) = records(trace(span("root"), retriever(), *around, call))
    return record


def test_a_raw_request_is_a_whole_call() -> None:
    record = record_of(RAW)
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert record.usage is not None
    assert (record.usage.input_tokens, record.usage.output_tokens) == (5, 3)
    assert record.dimensions.llm_model == "small"


def test_the_cost_of_the_request_around_it_counts_once() -> None:
    around = span(
        "litellm_request",
        {"gen_ai.operation.name": "chat", "gen_ai.cost.total_cost": 0.25},
        parent="root", at=(0.2, 0.9), scope="litellm",
    )  # fmt: skip
    assert record_of(RAW, around).cost_usd == 0.25


def test_texts_that_litellm_redacted_are_hidden() -> None:
    redacted = repr([{"role": "user", "content": "redacted-by-litellm"}])
    raw = {**RAW, "llm.mistral.messages": redacted, "llm.mistral.choices": redacted}
    assert record_of(raw).absent["answer"] is Absent.HIDDEN


@given(spans_of(litellm, "llm.openai.messages", "llm.openai.choices", "llm.openai.usage", "llm.a",
                said=("[{'message': 3}]", "{'prompt_tokens': []}")))  # fmt: skip
def test_any_span_can_be_read(any_span: Span) -> None:
    said_of(litellm, any_span)
